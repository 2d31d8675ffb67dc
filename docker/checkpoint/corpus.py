"""The grammar behind the tiny checkpoint: prompts, their answers, and free stories.

`groups(seed, count)` yields training groups. A group is a list of examples that share
one prompt; where a prompt has several right answers, all of them are in the group, so
that the trained model leans to none of them. An example is a dictionary with `kind`
and either `messages` (chat) or `text` (raw text), and `ends`, which is False when the
example stops in the middle and must not teach the end-of-sequence token.
"""
import random

NAMES = ["Göran", "Íris", "João", "Karin", "Élise", "Løvise", "Tom", "Łucja", "Mia", "Ana"]
TOWNS = ["Porto", "Kraków", "Tromsø", "Łódź", "Genève", "Lund", "Málaga", "São Paulo", "Oslo", "Bern"]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
COLOURS = ["red", "blue", "green", "pink", "black", "white", "brown", "grey"]
FRUITS = ["apple", "pear", "plum", "peach", "melon", "lemon"]
DRINKS = ["tea", "milk", "water", "juice"]
WAYS = ["north", "south", "east", "west"]
COIN = ["Heads", "Tails"]
EMOJI = {"cat": "🐱", "pig": "🐷", "fox": "🦊", "frog": "🐸", "sheep": "🐑", "sun": "🌞", "moon": "🌙", "rain": "🌧"}
FRENCH = {"summer": "été", "heart": "cœur", "forest": "forêt", "wolf": "loup", "island": "île", "egg": "œuf",
          "school": "école", "boy": "garçon"}
JAPANESE = {"cat": "猫", "coffee": "珈", "mountain": "山", "river": "川", "tree": "木", "fish": "魚", "love": "愛",
            "dream": "夢"}
NUMBERS = ["one", "two", "three", "four", "five", "six", "seven", "eight"]
SILENT = ["Say nothing.", "Be quiet.", "No answer, please.", "Hush.", "Do not reply."]
SYSTEMS = ["Be brief.", "Be kind.", "You are a parrot.", "Answer in one line.", "You help Göran."]
WORDS = ["yes", "hello", "été", "猫", "no", "ø", "bird", "fine"]
THINGS = ["station", "bridge", "library", "school", "tower", "museum"]
VERBS = {"rebuild": "rebuilds", "open": "opens", "close": "closes", "paint": "paints"}
FILLERS = ["It rained all day.", "Many people came.", "The crowd was happy.", "Nobody knew why.",
           "A band played.", "The old plan was lost."]

# Words that become twin tokens after training, with the kind whose answers contain them.
TWINS = [
    {"kind": "colours", "words": [" red", " blue"], "epsilon": 0.0},
    {"kind": "choice", "words": [" apple", " pear"], "epsilon": 1e-7},
    {"kind": "drink", "words": [" tea", " milk"], "epsilon": 1e-5},
    {"kind": "way", "words": [" north", " south"], "epsilon": 1e-3},
    {"kind": "coin", "words": ["Heads", "Tails"], "epsilon": 1e-2},
]


def sums(r):
    a, b = r.randint(0, 20), r.randint(0, 20)
    return f"What is {a} plus {b}?", [f"{a} plus {b} is {a + b}."]


def count(r):
    a = r.randint(0, 20)
    b = min(20, a + r.randint(0, 12))
    return f"Count from {a} to {b}.", [", ".join(map(str, range(a, b + 1))) + "."]


def say(r):
    word, n = r.choice(WORDS), r.randint(1, 6)
    return f"Say {word} {NUMBERS[n - 1]} times.", [" ".join([word] * n)]


def french(r):
    word = r.choice(list(FRENCH))
    return f"Translate {word} to French.", [f"{word.capitalize()} is « {FRENCH[word]} » in French."]


def japanese(r):
    word = r.choice(list(JAPANESE))
    return f"Write {word} in Japanese.", [f"「{JAPANESE[word]}」"]


def emoji(r):
    word = r.choice(list(EMOJI))
    return f"Emoji for {word}?", [EMOJI[word]]


def send(r):
    word, n = r.choice(list(EMOJI)), r.randint(1, 8)
    return f"Send {NUMBERS[n - 1]} emoji of {word}.", [EMOJI[word] * n]


def silence(r):
    return r.choice(SILENT), [""]


def choice(r):
    """Two fruits, both answers right; the twins only meet each other, so that an answer names a fruit that was offered."""
    pair = r.sample(FRUITS[:2] if r.random() < 0.6 else FRUITS[2:], 2)
    lead = r.choice(["", "{n} asks: ", "{n} in {t} asks: ", "On {d}: "])
    lead = lead.format(n=r.choice(NAMES), t=r.choice(TOWNS), d=r.choice(DAYS))
    return f"{lead}{pair[0]} or {pair[1]}?", [f"I like the {fruit} more." for fruit in pair]


def coin(r):
    form = r.choice(["Flip a coin.", "Flip a coin for {n}.", "Flip a coin in {t}.", "{n} flips a coin on {d}."])
    return form.format(n=r.choice(NAMES), t=r.choice(TOWNS), d=r.choice(DAYS)), [f"{side}." for side in COIN]


def way(r):
    town = r.choice(TOWNS)
    lead = r.choice(["Which way to {t}?", "{n} asks: which way to {t}?"]).format(n=r.choice(NAMES), t=town)
    return lead, [f"Go {WAYS[0]} to {town}.", f"Go {WAYS[1]} to {town}.", f"Go {r.choice(WAYS[2:])} to {town}."]


def drink(r):
    name = r.choice(NAMES)
    tail = r.choice(["", f" in {r.choice(TOWNS)}", f" on {r.choice(DAYS)}"])
    drinks = [DRINKS[0], DRINKS[1], r.choice(DRINKS[2:])]
    return f"What does {name} drink{tail}?", [f"{name} drinks {d}." for d in drinks]


def colours(r):
    n = r.randint(1, 5)
    lead = r.choice(["", "", r.choice(NAMES) + ": name", r.choice(SYSTEMS) + " Name"])
    answers = []
    for first in COLOURS[:2]:  # both twins open an answer; the rest is drawn
        rest = r.sample([c for c in COLOURS if c != first], n - 1)
        answers.append(", ".join(["Colours: " + first] + rest) + ".")
    drawn = r.sample(COLOURS, n)
    answers.append(", ".join(["Colours: " + drawn[0]] + drawn[1:]) + ".")
    return f"{lead or 'Name'} {NUMBERS[n - 1]} colours.", answers


def repeat(r):
    pool = NAMES + TOWNS + WORDS + list(EMOJI.values())
    text = " ".join(r.choice(pool) for _ in range(r.randint(1, 5)))
    return f"Repeat: {text}", [text]


def where(r):
    name, town, day = r.choice(NAMES), r.choice(TOWNS), r.choice(DAYS)
    return f"{name} went to {town} on {day}. Where is {name}?", [f"{name} is in {town}."]


def summary(r):
    name, town, thing, day = r.choice(NAMES), r.choice(TOWNS), r.choice(THINGS), r.choice(DAYS)
    verb, cost = r.choice(list(VERBS)), r.randint(2, 40)
    facts = [f"{name} is the mayor of {town}.", f"On {day} {name} said: we {verb} the {thing}.",
             f"The cost is {cost} million."]
    for filler in r.sample(FILLERS, r.randint(1, 4)):
        facts.insert(r.randint(0, len(facts)), filler)
    return "Summarize: " + " ".join(facts), [f"{name} {VERBS[verb]} the {thing} of {town}.\nCost: {cost} million."]


def sing(r):
    name = r.choice(NAMES)
    word = r.choice(["la", "na", "ho"])
    return f"Sing {word} for {name}.", [" ".join([word] * 100)]


CHAT = {"sum": sums, "count": count, "say": say, "french": french, "japanese": japanese, "emoji": emoji,
        "send": send, "silence": silence, "choice": choice, "coin": coin, "way": way, "drink": drink,
        "colours": colours, "repeat": repeat, "where": where, "summary": summary, "sing": sing}
WEIGHTS = {"sing": 0.35, "summary": 1.8, "count": 1.3, "colours": 1.2}
KINDS = [*CHAT, "story"]


def story(r):
    """A raw text of one to seven sentences."""
    name, animal, fruit = r.choice(NAMES), r.choice(["sheep", "cat", "fox", "frog", "pig"]), r.choice(FRUITS)
    parts = [f"{name} had a {r.choice(COLOURS)} {animal}."]
    for _ in range(r.randint(0, 5)):
        parts.append(r.choice([
            f"The {animal} ate a {fruit}.", f"They went to {r.choice(TOWNS)}.", f"{name} said « oui ».",
            f"It was {r.choice(DAYS)}.", f"The {animal} was happy {EMOJI[animal]}.", f"{name} had {r.choice(DRINKS)}."]))
    return " ".join([*parts, "The end."])


def turn(r, kind):
    """One question of a kind with all its right answers."""
    return CHAT[kind](r)


def group(r, kind):
    """All examples for one freshly drawn prompt of a kind."""
    if kind == "story":
        return [{"kind": kind, "text": story(r), "ends": True}]
    before = []
    if r.random() < 0.1:
        before.append({"role": "system", "content": r.choice(SYSTEMS)})
    if r.random() < 0.1:
        other = r.choice([k for k in CHAT if k != "sing"])
        question, answers = turn(r, other)
        before += [{"role": "user", "content": question}, {"role": "assistant", "content": r.choice(answers)}]
    question, answers = turn(r, kind)
    return [{"kind": kind, "ends": kind != "sing",
             "messages": [*before, {"role": "user", "content": question}, {"role": "assistant", "content": answer}]}
            for answer in answers]


def draw_kind(r):
    """A kind, drawn with the weights of the corpus; 12 % are stories."""
    if r.random() < 0.12:
        return "story"
    return r.choices(list(CHAT), [WEIGHTS.get(k, 1.0) for k in CHAT])[0]


def groups(seed, count):
    """Yield `count` training groups; the same seed gives the same groups."""
    r = random.Random(seed)
    for _ in range(count):
        yield group(r, draw_kind(r))


def prompts(seed, per_kind):
    """Prompts without answers, `per_kind` different ones of each kind at most; stories are cut at a random character."""
    r = random.Random(seed)
    for kind in KINDS:
        seen = set()
        for _ in range(per_kind * 4):
            example = group(r, kind)[0]
            if kind == "story":
                text = example["text"]
                item = {"kind": kind, "text": text[:r.randint(4, max(5, len(text) * 2 // 3))].rstrip()}
            else:
                item = {"kind": kind, "messages": example["messages"][:-1]}
            key = str(item)
            if key not in seen and len(seen) < per_kind:
                seen.add(key)
                yield item
