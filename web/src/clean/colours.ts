// What points can be coloured by.
export const COLOURS = ["image", "standard deviation", "depth"] as const;
export type Colours = (typeof COLOURS)[number];
