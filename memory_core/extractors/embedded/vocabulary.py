"""The closed word lists of the rules: what a verb says of its subject, which of the nine labels a noun takes."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


FIRST_PERSON = word_set("i me my mine myself we us our ours ourselves")
SECOND_PERSON = word_set("you your yours yourself")
THIRD_PERSON = word_set("he she him her his hers they them their theirs")

KIN = word_set(
    """sister brother mother mom mum father dad parent wife husband partner spouse fiancé fiancee fiance fiancée son
    daughter child kid baby toddler twin sibling cousin aunt uncle niece nephew grandmother grandma nana grandfather
    grandpa grandparent grandson granddaughter stepmother stepfather stepbrother stepsister stepson stepdaughter
    girlfriend boyfriend friend buddy pal bestie boss manager supervisor colleague coworker co-worker teammate
    roommate flatmate housemate neighbor neighbour mentor coach teacher professor tutor instructor trainer therapist
    doctor dentist landlord landlady godmother godfather godson goddaughter half-sister half-brother in-law
    hubby gf bf mommy daddy granny grandad
    mother-in-law father-in-law sister-in-law brother-in-law client student classmate assistant advisor adviser
    realtor agent accountant lawyer nanny babysitter family ex"""
)
SPOUSES = word_set("wife husband spouse")
PETS = word_set(
    """dog cat puppy kitten parrot rabbit bunny hamster guinea-pig goldfish fish betta turtle tortoise horse pony
    lizard gecko snake retriever labrador poodle beagle terrier corgi husky dachshund pup budgie canary ferret pet
    hen chicken greyhound whippet collie spaniel pug bulldog chihuahua dalmatian rottweiler doberman pitbull mastiff
    schnauzer maltese setter ragdoll siamese tabby calico cockatiel cockatoo parakeet macaw gerbil chinchilla hedgehog
    iguana donkey llama alpaca goldendoodle labradoodle lab mutt kitty doggo"""
)
LIKING = word_set("love like enjoy adore favor favour fancy appreciate cherish dig")
DISLIKING = word_set("hate dislike detest despise loathe")
PREFERRING = word_set("prefer")
WANTING = word_set("want plan hope intend aim wish aspire dream need")
ASSERTING = word_set(
    """say tell claim think believe suggest mention argue report hear suppose guess assume insist joke warn"""
)
OWN_ASSERTING = word_set(
    """think believe mention say tell guess realize notice know remember mean feel find figure decide learn hear"""
)
HYPOTHETICAL_MODALS = word_set("would could might may should must can ought 'd shall")
CONDITION_MARKS = word_set("if unless whether lest")
VAGUE_SUBJECTS = word_set(
    """it this that these those there everything something anything nothing someone anyone everyone one which who
    what"""
)

SPEAKING = word_set("speak")
SKILL_VERBS = word_set("play speak program code")
SKILL_ADJECTIVES = word_set("good great skilled fluent experienced proficient excellent decent certified trained adept")
LIKING_ADJECTIVES = word_set("interested passionate obsessed crazy keen fond hooked addicted")
DISLIKING_ADJECTIVES = word_set("scared afraid terrified sick tired")
WORK_VERBS = word_set("read reread watch rewatch play stream finish binge see write listen")

# (verb lemma with particle, preposition or "") -> relationship, label of the object
RELATIONS: dict[tuple[str, str], tuple[str, str]] = {
    ("live", "in"): ("lives_in", "Location"),
    ("live", "at"): ("lives_in", "Location"),
    ("live", "near"): ("lives_near", "Location"),
    ("live", "with"): ("lives_with", "Person"),
    ("reside", "in"): ("lives_in", "Location"),
    ("base", "in"): ("lives_in", "Location"),
    ("settle", "in"): ("lives_in", "Location"),
    ("move", "to"): ("moved_to", "Location"),
    ("relocate", "to"): ("moved_to", "Location"),
    ("move", "into"): ("moved_to", "Location"),
    ("move", "from"): ("moved_from", "Location"),
    ("grow_up", "in"): ("grew_up_in", "Location"),
    ("bear", "in"): ("born_in", "Location"),
    ("come", "from"): ("comes_from", "Location"),
    ("work", "at"): ("works_at", "Organization"),
    ("work", "for"): ("works_at", "Organization"),
    ("work", "in"): ("works_in", "Concept"),
    ("work", "as"): ("works_as", "Concept"),
    ("work", "on"): ("works_on", "Concept"),
    ("work", "with"): ("works_with", "Concept"),
    ("start", "at"): ("starts_at", "Organization"),
    ("intern", "at"): ("works_at", "Organization"),
    ("teach", "at"): ("teaches_at", "Organization"),
    ("get", "back_from"): ("visited", "Location"),
    ("come", "back_from"): ("visited", "Location"),
    ("return", "from"): ("visited", "Location"),
    ("promote", "to"): ("promoted_to", "Concept"),
    ("join", ""): ("joined", "Organization"),
    ("study", ""): ("studies", "Concept"),
    ("study", "at"): ("studies_at", "Organization"),
    ("study", "in"): ("studies_in", "Location"),
    ("major", "in"): ("studies", "Concept"),
    ("graduate", "from"): ("graduated_from", "Organization"),
    ("graduate", "in"): ("graduated_in", "Concept"),
    ("graduate", "with"): ("graduated_with", "Concept"),
    ("travel", "to"): ("visited", "Location"),
    ("fly", "to"): ("visited", "Location"),
    ("go", "to"): ("went_to", "Location"),
    ("visit", ""): ("visited", "Location"),
    ("attend", ""): ("attended", "Event"),
    ("buy", ""): ("bought", "Artifact"),
    ("purchase", ""): ("bought", "Artifact"),
    ("order", ""): ("ordered", "Artifact"),
    ("sell", ""): ("sold", "Artifact"),
    ("own", ""): ("owns", "Artifact"),
    ("drive", ""): ("drives", "Artifact"),
    ("read", ""): ("read", "Artifact"),
    ("watch", ""): ("watched", "Artifact"),
    ("listen", "to"): ("listens_to", "Artifact"),
    ("wear", ""): ("wears", "Artifact"),
    ("cook", ""): ("cooked", "Artifact"),
    ("bake", ""): ("baked", "Artifact"),
    ("paint", ""): ("painted", "Artifact"),
    ("use", ""): ("uses", "Artifact"),
    ("adopt", ""): ("adopted", "Artifact"),
    ("learn", ""): ("learns", "Skill"),
    ("practice", ""): ("practices", "Skill"),
    ("practise", ""): ("practices", "Skill"),
    ("meet", ""): ("met", "Person"),
    ("meet", "with"): ("met_with", "Person"),
    ("marry", ""): ("married_to", "Person"),
    ("date", ""): ("dates", "Person"),
    ("sign_up", "for"): ("signed_up_for", "Event"),
    ("participate", "in"): ("participated_in", "Event"),
    ("volunteer", "at"): ("volunteers_at", "Organization"),
    ("volunteer", "for"): ("volunteers_for", "Organization"),
    ("subscribe", "to"): ("subscribed_to", "Artifact"),
}

NAMED: dict[str, str] = {
    "PERSON": "Person",
    "ORG": "Organization",
    "GPE": "Location",
    "LOC": "Location",
    "FAC": "Location",
    "EVENT": "Event",
    "PRODUCT": "Artifact",
    "WORK_OF_ART": "Artifact",
    "LAW": "Concept",
    "LANGUAGE": "Concept",
    "NORP": "Concept",
    "NAME": "",
    "TITLE": "Artifact",
}
WHEN = frozenset({"DATE", "TIME"})
WHEN_WORDS = word_set(
    """someday sometime soon eventually today yesterday tomorrow tonight recently lately currently now weekly daily
    monthly yearly annually nightly ago always usually often sometimes nowadays previously formerly"""
)

VAGUE_NOUNS = word_set(
    """total addition thing lot bit way time fun one something anything everything nothing kind sort type stuff part
    point sense idea look chance case matter fact reason problem help advice thank thanks question tip suggestion
    info information luck number couple while moment day week month year minute hour today tomorrow yesterday
    tonight morning afternoon evening night weekend rest end start beginning side top bottom mind life world place
    people guy example work option step detail ton bunch hand eye heart today's it someone everyone anyone nobody
    blast deal pleasure congrats congratulation hey wow amount issue tonne piece difference care feel feeling
    thought word message turn recommendation resource lots"""
)
WEAK_ADJECTIVES = word_set(
    """new own other last next few several many much great good nice amazing awesome wonderful lovely beautiful cool
    fantastic whole entire same different various certain such more most first second third recent current little
    big huge really very super actual real best better favorite favourite old additional extra incredible perfect
    special another"""
)
FILLER = word_set(
    """ok okay thanks thank you thx great cool hi hello hey yes yeah yep no nope sure nice bye awesome perfect got it
    sounds good that's lol please alright very so much a lot morning evening night hmm hm um uh then well wow haha
    right i see of course totally absolutely exactly agreed interesting welcome goodbye later cheers cya np ty the
    to me that is too oh ah man dude glad lmao tbh omg idk same ikr brb gonna wanna way really not bad all fine
    everything one just go on continue more and again for now helps help"""
)

KIN_NAMES: dict[str, str] = {
    said: relation
    for relation, names in {
        "mother": "mom mum mommy",
        "father": "dad daddy",
        "child": "kid",
        "husband": "hubby",
        "girlfriend": "gf",
        "boyfriend": "bf",
        "grandmother": "grandma nana granny",
        "grandfather": "grandpa grandad",
        "neighbour": "neighbor",
        "colleague": "coworker co-worker",
        "friend": "buddy pal bestie",
        "boss": "supervisor",
        "roommate": "flatmate housemate",
        "fiancé": "fiancee fiance fiancée",
        "advisor": "adviser",
    }.items()
    for said in names.split()
}
"""The one name under which a relation is stored, whatever it was called."""
AIMS = word_set("priority goal goals plan dream ambition resolution aim intention")
EMPTY_OPENERS = word_set(
    """either honestly basically anyway luckily unfortunately definitely mostly maybe perhaps yep yeah hey hi wow sure
    etc new own also just even still really very so too actually ever yet already quite pretty only then well my our
    anymore longer"""
)
GREETINGS = word_set(
    """hey hi hello thanks thank wow yo bye goodbye dear oh aww congrats congratulations morning evening afternoon
    night ya sure thing no way nice great ok okay yes yeah yep nope"""
)
ABILITIES = word_set(
    """play speak cook bake swim code program ride drive sing dance read write draw paint ski surf sew knit juggle type
    sign"""
)
CURRENCIES = word_set("euro dollar pound quid buck yen rupee franc krona krone peso cent penny usd eur gbp")
CALLED_KIN = word_set("Mum Mom Dad Grandma Grandpa Nana Granny Mommy Daddy Grandad")
TRAVEL = word_set(
    """train flight bus ferry trip drive road way journey travel fly move go live visit stay tour direction route
    arrive head return"""
)
OF_PEOPLE = word_set(
    """married engaged divorced single widowed allergic pregnant retired sick ill tired afraid scared old tall happy
    sad angry jealous hungry vegan vegetarian unemployed"""
)
PAST_FORMS = word_set(
    """took went had got saw made bought ran came found met did spent left lost won ate drove flew wrote felt gave told
    finished started moved visited watched tried decided"""
)


#: What somebody is for long, said with an adjective alone.
TRAITS: frozenset[str] = frozenset(
    """vegetarian vegan pescatarian diabetic asthmatic celiac coeliac dyslexic autistic bilingual trilingual deaf blind
    left-handed lefthanded right-handed religious catholic jewish muslim buddhist hindu atheist agnostic gay lesbian
    bisexual transgender nonbinary non-binary single married divorced widowed engaged retired unemployed self-employed
    freelance pregnant color-blind colourblind lactose-intolerant gluten-free intolerant colorblind sober""".split()
)
