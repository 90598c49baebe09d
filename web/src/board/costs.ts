// What a value costs under a reader's priorities: the rule of depthgauge's application profiles
// (analysis/profiles/_costs.py), so that a page and a report order methods alike. A test holds the
// two against each other.
import type { Order } from "./table.js";

const PERCENT = 5;
const DECIMALS = 1e12;

/** The cost d / (d + m) of every value: 0 perfect, 1/2 the median method, 1 the worst possible. */
export function costs(values: readonly number[], order: Order, unit: string): number[] {
  const known = values.filter((value) => !Number.isNaN(value));
  const perfect = perfectOf(known.filter(Number.isFinite), order, unit);
  const distances = known.map((value) => distance(value, perfect, order));
  const reach = Math.max(median(distances), least(distances, unit));
  return values.map((value) => {
    const d = distance(value, perfect, order);
    if (Number.isNaN(d)) return NaN;
    return d === Infinity ? 1 : d === 0 ? 0 : d / (d + reach);
  });
}

/** The weighted mean of each row; NaN if it lacks one. */
export function totals(table: readonly (readonly number[])[], weights: readonly number[]): number[] {
  const all = weights.reduce((sum, weight) => sum + weight, 0);
  return table.map((row) => {
    const sum = row.reduce((part, cost, place) => part + cost * (weights[place] ?? 0), 0);
    return Math.round((sum / all) * DECIMALS) / DECIMALS;
  });
}

/** Places 1, 2, 2, 4 ...; equal costs share one, NaN has none. */
export function ranks(values: readonly number[]): (number | null)[] {
  return values.map((value) => (Number.isNaN(value) ? null : 1 + values.filter((other) => other < value).length));
}

function perfectOf(finite: readonly number[], order: Order, unit: string): number {
  if (order === "higher") {
    const top = finite.length > 0 ? Math.max(...finite) : 0;
    return isPercent(unit) && top <= 100 ? 100 : top;
  }
  const lowest = finite.length > 0 ? Math.min(...finite) : 0;
  return order === "lower" && lowest < 0 ? lowest : 0;
}

function least(distances: readonly number[], unit: string): number {
  if (isPercent(unit)) return PERCENT;
  const finite = distances.filter(Number.isFinite);
  return median(distances) === 0 ? Math.max(0, ...finite) / 2 : 0;
}

/** Units stand in the small print of a head, with the region before and an arrow behind. */
function isPercent(unit: string): boolean {
  return /(^|[\s,])%([\s,]|$)/.test(unit);
}

function distance(value: number, perfect: number, order: Order): number {
  if (Number.isNaN(value)) return NaN;
  const beyond = order === "higher" ? perfect - value : order === "zero" ? Math.abs(value) - perfect : value - perfect;
  return Math.max(0, beyond);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => (a === b ? 0 : a - b));
  const middle = sorted.length >> 1;
  const upper = sorted[middle];
  if (upper === undefined) return NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
