"""Files of a study that is confirmed by values: a population by blocks, two released files, a broker's file.

`PYTHONPATH=tests python -m making.values` writes those of config/studies/example-values again, byte for byte.
"""

import csv
from collections import Counter, defaultdict
from pathlib import Path
from random import Random

EXAMPLE = Path(__file__).parents[2] / "config" / "studies" / "example-values"
KNOWN, LEARNT = ("block", "sex", "age"), ("race", "ethnicity")
COLUMNS = (*KNOWN, *LEARNT)


def population(random, blocks=24, sizes=(12, 70)):
    """People of blocks; in most blocks one race is frequent, and it is another one in different blocks."""
    people = []
    for number in range(1, blocks + 1):
        usual = random.choices("ABC", [6, 2, 1])[0]
        hispanic = random.choice([0.05, 0.1, 0.3])
        for _ in range(random.randint(*sizes)):
            race = usual if random.random() < random.choice([0.8, 0.9]) else random.choice("ABCDE")
            values = f"{number:03d}", random.choice("fm"), str(random.randint(0, 89)), race
            people.append((*values, "yes" if random.random() < hispanic else "no"))
    return people


def of_blocks(people):
    made = defaultdict(list)
    for person in people:
        made[person[0]].append(person)
    return made


def resampled(random, people):
    """Synthetic records: every variable is drawn from its own margin in the block."""
    return [
        (block, *(random.choice(margin) for margin in list(zip(*members, strict=True))[1:]))
        for block, members in of_blocks(people).items()
        for _ in members
    ]


def copying(random, people, share):
    """Synthetic records as above, but a share of the people is copied as it is."""
    return [
        person if random.random() < share else drawn
        for person, drawn in zip(
            [one for own in of_blocks(people).values() for one in own], resampled(random, people), strict=True
        )
    ]


def reconstructed(people):
    """Records that agree with three tables of a block: sex by age, sex by ten years of age by race, race by ethnicity.

    The solver takes the ages, races and ethnicities of the tables in their order, whoever they belong to.
    """
    records = []
    for block, members in of_blocks(people).items():
        races, ethnicities = defaultdict(list), defaultdict(list)
        for _, sex, age, race, ethnicity in sorted(members, key=lambda one: one[3:]):
            races[sex, int(age) // 10].append(race)
            ethnicities[race].append(ethnicity)
        ages = Counter((sex, int(age)) for _, sex, age, _, _ in members)
        for sex, age in sorted(ages.elements()):
            race = races[sex, age // 10].pop(0)
            records.append((block, sex, str(age), race, ethnicities[race].pop(0)))
    return records


def broker(random, people, share=0.6):
    """Named records of a share of the people, some with an age that is a year off, and of people who live elsewhere."""
    records = []
    for number, (block, sex, age, *_) in enumerate(people, start=1):
        if random.random() < share:
            told = int(age) + random.choices([0, -1, 1], [8, 1, 1])[0]
            records.append((f"p{number:04d}", block, sex, str(max(told, 0))))
    for number in range(1, len(people) // 25 + 1):
        block, sex, age, *_ = random.choice(people)
        records.append((f"x{number:04d}", block, sex, age))
    return records


def named(people):
    return [(f"p{number:04d}", *values) for number, values in enumerate(people, start=1)]


def write(folder):
    """Write the files of the example."""
    random = Random(62)  # noqa: S311 - made-up records
    people = population(random)
    files = {
        "population": (("person", *COLUMNS), named(people)),
        "broker": (("person", *KNOWN), broker(random, people)),
        "synthetic": (COLUMNS, resampled(random, people)),
        "reconstructed": (COLUMNS, reconstructed(people)),
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, (columns, records) in files.items():
        with (folder / f"{name}.csv").open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(columns)
            writer.writerows(records)


if __name__ == "__main__":
    write(EXAMPLE)
