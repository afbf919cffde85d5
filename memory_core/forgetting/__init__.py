"""Plan, apply, undo, purge."""

from memory_core.forgetting.cuts import Cut
from memory_core.forgetting.forgetting import Forgetting
from memory_core.forgetting.passes import Pass
from memory_core.forgetting.plan import ForgettingPlan, plan_forgetting
from memory_core.forgetting.rules import Rule
from memory_core.forgetting.where import Where

__all__ = ["Cut", "Forgetting", "ForgettingPlan", "Pass", "Rule", "Where", "plan_forgetting"]
