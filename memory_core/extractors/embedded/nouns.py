"""Which of the nine labels a head noun takes: closed lists of common nouns, the first that holds it."""

from __future__ import annotations

from memory_core.extractors.embedded.vocabulary import KIN, word_set

EVENTS = word_set(
    """appointment meeting interview wedding trip recital marathon conference party birthday concert exam flight
    vacation holiday anniversary offsite reunion graduation dinner lunch brunch breakfast game match ceremony
    workshop race tournament festival fair show exhibition gala seminar webinar convention lecture talk
    presentation defence defense housewarming promotion tasting quiz audit class course session lesson visit
    tour hike walk run ride camp retreat event gathering picnic barbecue celebration funeral shower audition
    competition contest championship parade protest march rally fundraiser auction sale move surgery checkup
    operation accident fire flood storm election call date performance play screening premiere tryout practice
    training internship semester journey cruise safari getaway honeymoon stay adventure expedition outing climb
    dive sprint triathlon hackathon meetup demo launch opening closing drive project campaign bbq prom scan
    ultrasound vaccination biopsy chemo orientation bootcamp playdate sleepover tryouts rehearsal gig derby
    regatta hen-do stag-do christening baptism baby-shower bonfire potluck raffle roadtrip road-trip rafting
    thanksgiving christmas halloween easter hanukkah diwali eid summit congress bday b-day expo symposium"""
)
PLACES = word_set(
    """city town village country state island beach park museum gallery library restaurant cafe café bar pub
    hotel hostel airport station school office gym studio apartment house home flat condo cabin farm garden yard
    kitchen bedroom garage lake river mountain forest trail street bridge square tower abbey dune walls
    neighborhood neighbourhood suburb downtown market mall shop store supermarket bakery hospital clinic church
    temple mosque cathedral castle palace theater theatre stadium arena pool campground campsite resort spa zoo
    aquarium coast valley desert canyon waterfall bay harbor port region area venue room shelter campus road
    avenue lane boulevard hill islands villa cottage hut lodge pier marina boathouse courtroom pharmacy salon
    barbershop cinema cinemas arcade playground nursery kindergarten daycare observatory vineyard winery brewery
    distillery chalet basement attic balcony terrace patio backyard loft county province district continent
    peninsula volcano glacier reef cave cliff meadow pond creek canal reservoir dock dorm"""
)
GROUPS = word_set(
    """company firm startup team club band group organization organisation agency university college academy
    bank charity nonprofit foundation committee council government ministry department church union association
    society league chapter community network brand quartet choir orchestra ensemble trio troupe crew squad
    business studio lab institute corporation employer ngo co-op cooperative guild troop gang faculty chorus"""
)
PEOPLE = word_set(
    """nurse editor carpenter paralegal landlord glassblower fundraiser engineer teacher doctor lawyer designer
    developer programmer artist writer author chef cook baker architect accountant manager director analyst
    scientist researcher student professor musician singer actor actress dancer photographer journalist
    electrician plumber mechanic pilot driver firefighter officer soldier veteran dietitian shipwright builder
    tailor florist surveyor welder roofer pharmacist dentist surgeon vet veterinarian therapist counselor
    psychologist consultant entrepreneur freelancer barista waiter waitress bartender librarian translator
    salesperson realtor coach trainer instructor producer gardener farmer friend man woman boy girl guy person
    people kid child parent mother father teenager lady gentleman couple volunteer colleague neighbor neighbour
    teammate customer client paramedic midwife intern technician secretary clerk cashier logistician geologist
    biologist chemist physicist historian mathematician statistician beekeeper butcher fisherman sailor captain
    judge politician diplomat economist banker broker trader auditor optician optometrist physio physiotherapist
    chiropractor radiologist cardiologist dermatologist allergist pediatrician paediatrician anesthetist
    obstetrician gynecologist psychiatrist neurologist oncologist sculptor novelist poet playwright comedian
    composer conductor drummer guitarist bassist violinist cellist pianist referee umpire athlete goalkeeper
    striker cyclist runner swimmer climber hiker blacksmith locksmith jeweler jeweller stylist hairdresser
    barber beautician masseuse caterer janitor cleaner courier cartographer bookkeeper recruiter copywriter
    illustrator animator webmaster sysadmin administrator receptionist bailiff detective policeman policewoman
    cop sheriff ranger lifeguard bouncer dj rapper vocalist headteacher dean lecturer postdoc apprentice trainee
    stranger tenant host guest witness"""
)
THINGS = word_set(
    """car bike bicycle motorcycle truck van boat phone laptop computer tablet camera lens watch book novel
    movie film song album podcast magazine guitar piano violin drum ukulele keyboard dress shirt shoe sneaker
    boot jacket coat hat bag backpack sofa couch table chair desk bed lamp shelf bookshelf rug mattress tv
    television console game controller headphone speaker coffee tea cake bread pizza pasta soup salad sandwich
    cookie pie chocolate cheese wine beer cocktail smoothie recipe dish meal ice-cream sauce painting photo
    picture poster drawing sculpture necklace ring bracelet earring toy doll puzzle plant flower tree tool
    machine printer bottle mug cup plate knife pan pot oven blender grinder mixer app website blog software tent
    kayak canoe surfboard skateboard ski helmet jersey ticket card letter gift present certificate series show
    sitcom documentary tank aquarium fabric yarn scarf sweater quilt candle soap cream lotion shampoo vitamin
    supplement medication insulin bill furniture wheel tire engine gear equipment kit device gadget charger
    notebook journal diary pen pencil brush canvas vase chandelier mirror window door fence shed script
    screenplay poem rice boiler heater radiator thermostat trampoline slide draft thesis essay manuscript
    spreadsheet contract lease rent taxi cab scooter moped tractor lorry minivan suv motorbike sedan hatchback
    ebike e-bike caravan camper campervan yacht sailboat raft drone fridge freezer refrigerator dishwasher
    microwave toaster kettle stove cooker fryer air-fryer juicer vacuum washer dryer iron fan lampshade carpet
    curtain pillow blanket duvet sheet towel wardrobe dresser cupboard cabinet drawer stool bench armchair
    hammock crib cot stroller pram buggy monitor mouse router modem server earbud earphone headset microphone
    projector smartwatch fitbit kindle e-reader ereader ipad iphone macbook battery cable adapter usb hard-drive
    drill hammer saw screwdriver wrench ladder lawnmower mower shovel rake hose barbecue grill smoker griddle
    skillet wok saucepan bowl fork spoon spatula whisk thermos flask cooler basket bucket bin box crate wallet
    purse belt tie watchband sock glove mitten beanie hoodie jumper cardigan sweatshirt t-shirt tshirt tee
    blouse skirt trouser pants jeans shorts suit tuxedo gown robe pyjama pajama swimsuit bikini wetsuit sandal
    heel slipper trainer sunglasses glasses eyeglass perfume cologne lipstick makeup mascara toothbrush
    toothpaste razor hairdryer umbrella tarp sleeping-bag compass binocular telescope microscope tripod
    film-camera turntable vinyl cassette cd dvd comic manga textbook cookbook dictionary atlas map almanac
    biography memoir trilogy novella anthology newspaper newsletter opera symphony musical sonata playlist
    mixtape soundtrack episode miniseries anime cartoon videogame boardgame jigsaw chessboard dartboard football
    basketball racket racquet bat paddle oar rope harness carabiner saddle bridle leash collar kennel cage
    terrarium hive egg omelette pancake waffle muffin scone croissant bagel doughnut donut biscuit brownie
    cupcake pastry tart pudding custard jelly jam marmalade honey syrup butter yogurt yoghurt milk juice
    lemonade soda cola espresso latte cappuccino matcha whisky whiskey vodka gin rum cider champagne prosecco
    mocktail noodle ramen sushi curry taco burrito enchilada quesadilla nacho lasagna lasagne risotto paella
    stew casserole roast steak burger sausage bacon ham turkey lamb beef pork tofu tempeh seitan falafel hummus
    kebab dumpling gyoza dim-sum fries chip crisp popcorn nut almond cashew peanut walnut mushroom tomato potato
    onion garlic carrot pepper broccoli spinach kale lettuce cabbage cucumber zucchini courgette aubergine
    eggplant pumpkin squash bean lentil chickpea apple banana pear peach plum mango grape melon pineapple
    strawberry blueberry raspberry cherry lemon lime avocado herb basil spice saffron vinegar oil sourdough
    baguette loaf dough starter kimchi pickle salsa ketchup mustard mayonnaise"""
)
SKILLS = word_set(
    """python java javascript typescript rust golang sql html css c++ kotlin swift excel photoshop juggling
    knitting crochet pottery calligraphy piano guitar violin chess archery yoga karate judo boxing fencing
    ballet salsa swimming programming coding cooking baking photography woodworking carpentry gardening sewing
    embroidery origami surfing skiing snowboarding drawing painting sculpting dancing singing running cycling
    rowing sailing climbing bouldering hiking meditation pilates crossfit zumba taekwondo aikido jiu-jitsu
    muay-thai wrestling gymnastics badminton table-tennis tennis golf football soccer basketball volleyball
    handball rugby cricket baseball softball hockey ice-skating rollerblading snorkeling freediving kitesurfing
    windsurfing paragliding joinery welding blacksmithing leatherwork glassblowing ceramics weaving quilting
    crocheting needlework beekeeping foraging birdwatching astronomy improv stand-up beatboxing djing poker
    sudoku latex matlab kubernetes docker figma lightroom autocad"""
)
NAMED_GROUPS = word_set(
    """school university college hospital hospice elementary clinic bank
    church restaurant café cafe bakery bar pub osteria
    trattoria bistro hotel hostel museum gallery library theater theatre shelter gym studio store shop market
    supermarket robotics inc ltd llc gmbh press publishing bikes brewery brewing winery roasters kitchen grill
    diner pizzeria tavern inn lodge boutique salon spa surgery pharmacy dental veterinary vet animal rescue
    trust foundation charity society association institute academy kindergarten nursery preschool primary
    secondary airlines airways railways rail motors electric energy software systems technologies labs solutions
    consulting holdings corp corporation company insurance capital ventures media studios pictures club united
    fc rovers harriers choir orchestra quartet band union council ministry department police"""
)
INSTRUMENTS = word_set(
    """guitar piano violin drum ukulele keyboard flute cello saxophone trumpet bass clarinet harp banjo chess
    tennis"""
)
LANGUAGES = word_set(
    """english spanish french german italian portuguese dutch polish russian japanese korean chinese mandarin cantonese
    arabic hindi urdu bengali turkish greek hebrew swedish norwegian danish finnish hungarian czech romanian ukrainian
    thai vietnamese indonesian swahili catalan basque welsh irish gaelic latin persian farsi"""
)
NO_JOBS = word_set(
    """friend man woman boy girl guy person people kid child parent mother father teenager lady gentleman couple
    colleague neighbor neighbour teammate customer client"""
)
CLASSES: tuple[tuple[str, frozenset[str]], ...] = (
    ("Event", EVENTS),
    ("Location", PLACES),
    ("Organization", GROUPS),
    ("Artifact", THINGS),
    ("Skill", SKILLS),
    ("Person", PEOPLE | KIN),
)
"""Which label a head noun takes; the first class that holds it."""
