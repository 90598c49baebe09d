// Places from best to worst; letters in one place are tied.
export type Places = string[][];

function without(places: Places, letter: string): Places {
  return places.map((place) => place.filter((each) => each !== letter)).filter((place) => place.length > 0);
}

/** Puts a letter into a place of its own before the place that is now at `before`. */
export function alone(places: Places, letter: string, before: number): Places {
  const marked = places.map((place) => place.filter((each) => each !== letter));
  marked.splice(before, 0, [letter]);
  return marked.filter((place) => place.length > 0);
}

/** Ties a letter with the letters of a place. */
export function tied(places: Places, letter: string, at: number): Places {
  return places
    .map((place, k) => (k === at ? [...place.filter((each) => each !== letter), letter] : place.filter((each) => each !== letter)))
    .filter((place) => place.length > 0);
}

/** One step up (-1) or down (1): out of a tie into a place of its own, or into a tie with the next place. */
export function moved(places: Places, letter: string, step: -1 | 1): Places {
  const at = places.findIndex((place) => place.includes(letter));
  if (at < 0) return places;
  if ((places[at]?.length ?? 0) > 1) return alone(places, letter, step < 0 ? at : at + 1);
  const next = at + step;
  if (next < 0 || next >= places.length) return places;
  const rest = without(places, letter);
  return tied(rest, letter, step < 0 ? next : at);
}
