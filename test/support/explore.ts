/** A possible next step. A fault need not happen: a state in which only faults are possible counts as an end. */
export interface Successor<State> {
  readonly state: State;
  readonly label: string;
  readonly isFault: boolean;
}

/** A protocol and the world around it, as states and steps. */
export interface Model<State> {
  start(): State;
  /** Two states are equal if these texts are. */
  textOf(state: State): string;
  successors(state: State): readonly Successor<State>[];
  /** The broken promise of a state with no further step but a fault. */
  violationAtEnd(state: State): string | undefined;
  /** The broken promise of any state. */
  violationOf(state: State): string | undefined;
}

export interface Exploration {
  readonly states: number;
  readonly ends: number;
  /** Every reachable state was visited. */
  readonly isComplete: boolean;
  readonly violation: string | undefined;
  /** The steps that lead there. */
  readonly trace: readonly string[];
}

/** Visits every state, breadth first, so that a counterexample is as short as can be. */
export function explore<State>(model: Model<State>, statesMax: number): Exploration {
  const start = model.start();
  const seen = new Set([fingerprintOf(model.textOf(start))]);
  /** For each state: its predecessor, and its number among that one's successors. */
  const parents = [-1];
  const places = [0];
  let ends = 0;
  const result = (isComplete: boolean, violation?: string, last = -1): Exploration => {
    return {
      states: parents.length,
      ends,
      isComplete,
      violation,
      trace: traceTo(model, parents, places, last),
    };
  };
  let level: [State, number][] = [[start, 0]];
  while (level.length > 0) {
    const next: [State, number][] = [];
    for (const [state, number] of level) {
      const successors = model.successors(state);
      if (successors.every(({ isFault }) => isFault)) {
        ends += 1;
        const violation = model.violationAtEnd(state);
        if (violation !== undefined) return result(false, violation, number);
      }
      for (const [place, successor] of successors.entries()) {
        const fingerprint = fingerprintOf(model.textOf(successor.state));
        if (seen.has(fingerprint)) continue;
        seen.add(fingerprint);
        parents.push(number);
        places.push(place);
        const violation = model.violationOf(successor.state);
        if (violation !== undefined) return result(false, violation, parents.length - 1);
        next.push([successor.state, parents.length - 1]);
      }
    }
    if (parents.length > statesMax) return result(false);
    level = next;
  }
  return result(true);
}

function traceTo<State>(
  model: Model<State>,
  parents: readonly number[],
  places: readonly number[],
  last: number,
): string[] {
  const way: number[] = [];
  for (let each = last; each > 0; each = parents[each] ?? 0) way.unshift(places[each] ?? 0);
  let state = model.start();
  return way.map((place) => {
    const { state: next, label } = model.successors(state)[place] as Successor<State>;
    state = next;
    return label;
  });
}

/** 53 bits: among five million states a collision has a chance of one in 700. */
function fingerprintOf(text: string): number {
  let high = 0x1234_5678;
  let low = 0x0bad_cafe;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    high = Math.imul(high ^ code, 0x85eb_ca6b);
    low = Math.imul(low ^ code, 0xc2b2_ae35);
  }
  high = Math.imul(high ^ (high >>> 16), 0x85eb_ca6b) ^ Math.imul(low ^ (low >>> 13), 0xc2b2_ae35);
  low = Math.imul(low ^ (low >>> 16), 0x85eb_ca6b) ^ Math.imul(high ^ (high >>> 13), 0xc2b2_ae35);
  return (high & 0x1f_ffff) * 0x1_0000_0000 + (low >>> 0);
}
