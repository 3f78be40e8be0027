/** A message of a stream as its reader received it. */
export interface StreamMessage {
  readonly topic: string;
  readonly payload: string;
  /** `EPOCH-N`, or `EPOCH-N-F`. */
  readonly position: string;
}

/** A message that a reader received, or a gap that was reported to it. */
export type Noticed = StreamMessage | 'gap';

/** Checks the promises to readers of streams: it compares acknowledged messages with those that a reader got. */
export class StreamLedger {
  /** Payloads whose publisher got an acknowledgement, in the order of these. */
  readonly acknowledged: string[] = [];

  /** Sentences, one for each broken promise to a reader that began with the first message. */
  violations(noticed: readonly Noticed[]): string[] {
    return [...orderViolations(noticed), ...repeats(noticed), ...this.#missing(noticed)];
  }

  #missing(noticed: readonly Noticed[]): string[] {
    if (noticed.includes('gap')) return [];
    const seen = new Set(noticed.map((each) => (each === 'gap' ? '' : each.payload)));
    return this.acknowledged
      .filter((payload) => !seen.has(payload))
      .map((payload) => `${payload} was acknowledged and has not come`);
  }
}

/** Numbers of a topic rise by one from 1; after a reported gap they may jump, once. */
function orderViolations(noticed: readonly Noticed[]): string[] {
  const violations: string[] = [];
  const last = new Map<string, { epoch: string; number: number }>();
  let mayJump = new Set<string>();
  let isGapTold = false;
  for (const each of noticed) {
    if (each === 'gap') {
      isGapTold = true;
      mayJump = new Set(last.keys());
      continue;
    }
    const { topic, position } = each;
    const [epoch = '', digits] = position.split('-');
    const number = Number(digits);
    const before = last.get(topic);
    const expected = before === undefined ? 1 : before.number + 1;
    const isNext = number === expected && (before === undefined || before.epoch === epoch);
    if (!isNext && !mayJump.delete(topic) && !(isGapTold && before === undefined))
      violations.push(`${topic}: ${position} came instead of number ${expected}`);
    last.set(topic, { epoch, number });
  }
  return violations;
}

function repeats(noticed: readonly Noticed[]): string[] {
  const seen = new Set<string>();
  const violations: string[] = [];
  for (const each of noticed) {
    if (each === 'gap') continue;
    if (seen.has(each.payload)) violations.push(`${each.payload} came twice`);
    seen.add(each.payload);
  }
  return violations;
}
