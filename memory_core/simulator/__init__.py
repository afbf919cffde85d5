"""The forgetting simulator: what a setting would take, why, what it costs, and how settings compare."""

from memory_core.simulator.setting import Setting
from memory_core.simulator.simulator import Shown, Simulator, simulator_of

__all__ = ["Setting", "Shown", "Simulator", "simulator_of"]
