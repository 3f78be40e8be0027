import { type Awaitable, type Log, type Reservation, steadyNow } from '@apus/broker';
import type { Scheduler } from '@apus/node';
import type { HeldKind, HoldingAsk, Holdings, SharedHoldings } from '@apus/store-memory';
import {
  COUNTS_AGAIN_MS,
  COUNTS_RETRY_MS,
  COUNTS_STEP,
  SHORT_TOLD_MS,
  SPARE_PARTS,
  TIGHT_MS,
} from './limits.ts';
import type { HeldCounts, HeldPart } from './store/index.ts';

/** A count of a holder at this process. */
interface Part {
  readonly key: string;
  readonly kind: HeldKind;
  readonly field: string;
  /** The part of this process in the engine. It never counts more, unless no quota asks for the count. */
  reserved: number;
  /** Taken for clients whose sessions are not opened yet. */
  pending: number;
  /** How much may be reserved beyond what is held. */
  spare: number;
  /** Requests and changes under way to the engine. Meanwhile the part is not changed or forgotten. */
  asked: number;
  /** The engine may have lost it: it was started again. */
  isUncertain: boolean;
  /** Until then nothing is reserved beyond what is held: another process had no room. */
  tightUntilMs: number;
  toldAtMs: number;
}

/** A count, by its name in the engine. */
export type CountName = string;

interface Waiting {
  readonly asks: readonly HoldingAsk[];
  readonly parts: readonly Part[];
  resolve(answer: Reservation | HoldingAsk): void;
  reject(error: unknown): void;
}

/**
 * Counts of holders over all processes. The engine has a part for each process. The part grows before the process
 * counts more, and shrinks afterwards: so the processes never count more than their parts, and the parts are never
 * more than the quota.
 *
 *     this process                      the engine: quota 3             another process
 *     counts 1, has 1                   1 + 2
 *     CONNECT: asks for 2               1 + 2: no room                  a client leaves: counts 1
 *     CONNECT: turned away              1 + 1                           has 1
 *
 * One command is under way at a time, with everything that was asked for meanwhile.
 *
 * Of a large quota a process reserves some beyond what it counts. If another process finds no room it asks for that,
 * so a client is turned away only if all clients together hold the whole quota.
 */
export class SharedCounts implements SharedHoldings {
  readonly #counts: HeldCounts;
  readonly #holdings: Holdings;
  readonly #clock: Scheduler;
  readonly #log: Log;
  readonly #askOthers: (count: CountName) => void;
  /** By field. */
  readonly #parts = new Map<string, Part>();
  readonly #waiting: Waiting[] = [];
  /** Parts that have to be changed in the engine. */
  readonly #stale = new Set<Part>();
  #turn: Promise<void> = Promise.resolve();
  #isRunning = false;
  #isStopped = false;

  /** @param askOthers asks the other processes for what they have reserved; they answer with `giveSpare` */
  constructor(
    counts: HeldCounts,
    holdings: Holdings,
    clock: Scheduler,
    log: Log,
    askOthers: (count: CountName) => void = () => {},
  ) {
    this.#counts = counts;
    this.#holdings = holdings;
    this.#clock = clock;
    this.#log = log;
    this.#askOthers = askOthers;
    holdings.watch = (key, kind) => {
      const part = this.#parts.get(fieldOf(key, kind));
      if (part !== undefined) this.#look(part);
    };
  }

  reserve(asks: readonly HoldingAsk[]): Awaitable<Reservation | HoldingAsk> {
    const answer = this.#take(asks, this.#partsOf(asks));
    return 'release' in answer ? answer : this.#ask(asks);
  }

  room(key: string, kind: HeldKind): number {
    const part = this.#parts.get(fieldOf(key, kind));
    return part === undefined ? 0 : Math.max(0, part.reserved - this.#held(part));
  }

  /** Another process has no room: for a while this one reserves nothing beyond what it has. */
  giveSpare(count: CountName): void {
    const part = this.#parts.get(count);
    if (part === undefined) return;
    this.#tighten(part);
    this.#look(part);
  }

  /** The parts of a dead process, whose sessions are counted here now. */
  async inherit(dead: string): Promise<void> {
    await this.#inTurn(() => this.#counts.inherit(dead, (fields) => fields.map((field) => this.#own(field))));
  }

  /** The engine may have lost the last parts that it was told. */
  reaffirm(): void {
    for (const part of this.#parts.values()) {
      part.isUncertain = true;
      this.#stale.add(part);
    }
    this.#runSoon();
  }

  stop(): void {
    this.#isStopped = true;
    for (const { reject } of this.#waiting.splice(0)) reject(stopped());
  }

  #own(field: string): number {
    const [key, kind] = namesOf(field);
    const known = this.#parts.get(field);
    const held = this.#holdings.findKey(key)?.[kind] ?? 0;
    if (known === undefined && held === 0) return 0;
    const part = known ?? this.#partOf(key, kind);
    part.reserved = Math.max(part.reserved, this.#held(part));
    return part.reserved;
  }

  /** Takes all of it if the parts of this process are enough; otherwise returns the first ask that has too little. */
  #take(asks: readonly HoldingAsk[], parts: readonly Part[]): Reservation | HoldingAsk {
    const lacking = asks.find(({ by }, index) => {
      const part = parts[index];
      return part !== undefined && this.#held(part) + by > part.reserved;
    });
    if (lacking !== undefined) return lacking;
    this.#pend(asks, parts, 1);
    let isKept = true;
    return {
      release: () => {
        if (!isKept) return;
        isKept = false;
        this.#pend(asks, parts, -1);
        for (const part of parts) this.#look(part);
      },
    };
  }

  #pend(asks: readonly HoldingAsk[], parts: readonly Part[], sign: 1 | -1): void {
    for (const [index, part] of parts.entries()) part.pending += sign * (asks[index]?.by ?? 0);
  }

  /** With clients that are about to be counted. */
  #held({ key, kind, pending }: Part): number {
    return (this.#holdings.findKey(key)?.[kind] ?? 0) + pending;
  }

  #partsOf(asks: readonly HoldingAsk[]): readonly Part[] {
    return asks.map(({ key, kind }) => this.#partOf(key, kind));
  }

  #partOf(key: string, kind: HeldKind): Part {
    const field = fieldOf(key, kind);
    const known = this.#parts.get(field);
    if (known !== undefined) return known;
    const none = {
      ...{ reserved: 0, pending: 0, spare: 0, asked: 0, isUncertain: false },
      ...{ tightUntilMs: Number.NEGATIVE_INFINITY, toldAtMs: Number.NEGATIVE_INFINITY },
    };
    const part: Part = { key, kind, field, ...none };
    this.#parts.set(field, part);
    return part;
  }

  /** Asks again if there is no room: another process may be about to report that a client has left. */
  async #ask(asks: readonly HoldingAsk[]): Promise<Reservation | HoldingAsk> {
    const answer = await this.#wait(asks);
    if ('release' in answer) return answer;
    this.#askForSpare(answer);
    await new Promise<void>((resolve) => this.#clock.after(COUNTS_AGAIN_MS, resolve));
    return await this.#wait(asks);
  }

  #wait(asks: readonly HoldingAsk[]): Promise<Reservation | HoldingAsk> {
    const parts = this.#partsOf(asks);
    for (const [index, part] of parts.entries()) {
      part.asked += 1;
      part.spare = steadyNow(this.#clock) < part.tightUntilMs ? 0 : spareOf(asks[index]?.max ?? 0);
    }
    return new Promise((resolve, reject) => {
      if (this.#isStopped) return reject(stopped());
      this.#waiting.push({ asks, parts, resolve, reject });
      this.#runSoon();
    });
  }

  #askForSpare({ key, kind, max }: HoldingAsk): void {
    const part = this.#partOf(key, kind);
    this.#tighten(part);
    const nowMs = steadyNow(this.#clock);
    if (spareOf(max) === 0 || nowMs - part.toldAtMs < SHORT_TOLD_MS) return;
    part.toldAtMs = nowMs;
    this.#askOthers(part.field);
  }

  #tighten(part: Part): void {
    part.spare = 0;
    part.tightUntilMs = steadyNow(this.#clock) + TIGHT_MS;
  }

  /** The part that should be in the engine. */
  #target(part: Part): number {
    const held = this.#held(part);
    if (held === 0) return 0;
    const { reserved, spare } = part;
    return held <= reserved && reserved <= held + 2 * spare ? reserved : held + (held < reserved ? spare : 0);
  }

  #look(part: Part): void {
    if (part.asked > 0 || this.#parts.get(part.field) !== part) return;
    const target = this.#target(part);
    if (target === part.reserved && !part.isUncertain) {
      this.#stale.delete(part);
      if (target === 0) this.#parts.delete(part.field);
      return;
    }
    this.#stale.add(part);
    this.#runSoon();
  }

  #runSoon(): void {
    if (this.#isRunning) return;
    this.#isRunning = true;
    void this.#run();
  }

  async #run(): Promise<void> {
    while (!this.#isStopped && (this.#waiting.length > 0 || this.#stale.size > 0)) {
      const waiting = this.#waiting.splice(0, COUNTS_STEP);
      const stale = this.#takeStale();
      const parts = [...waiting.flatMap((each) => each.parts), ...stale];
      try {
        await this.#inTurn(() => this.#step(waiting, stale));
      } catch (error) {
        for (const { reject } of waiting) reject(error);
        await this.#failed(error, parts);
      }
      for (const part of parts) part.asked -= 1;
      // Callers count what they were given before the next round.
      await new Promise((resolve) => setImmediate(resolve));
      for (const part of new Set(parts)) this.#look(part);
    }
    this.#isRunning = false;
  }

  #takeStale(): readonly Part[] {
    const taken: Part[] = [];
    for (const part of this.#stale) {
      if (taken.length === COUNTS_STEP) break;
      this.#stale.delete(part);
      part.asked += 1;
      taken.push(part);
    }
    return taken;
  }

  /** It is unknown which parts the engine has. */
  async #failed(error: unknown, parts: readonly Part[]): Promise<void> {
    if (this.#isStopped) return;
    this.#log.error('holdings-not-counted', { error: String(error) });
    for (const part of parts) part.isUncertain = true;
    await new Promise<void>((resolve) => this.#clock.after(COUNTS_RETRY_MS, resolve));
  }

  async #step(waiting: readonly Waiting[], stale: readonly Part[]): Promise<void> {
    const entries = new Map<Part, HeldPart>();
    for (const part of stale) {
      const target = this.#target(part);
      if (target !== part.reserved || part.isUncertain)
        entries.set(part, { field: part.field, least: target, want: target, max: 0 });
    }
    for (const [part, { by, max }] of summed(waiting)) {
      const least = this.#held(part);
      // A part that would shrink to what is held is asked for too.
      if (least + by > part.reserved || part.isUncertain || entries.has(part))
        entries.set(part, { field: part.field, least, want: least + by + part.spare, max });
    }
    if (entries.size > 0) {
      // The engine may be about to take the rest away, so no client gets it meanwhile.
      for (const [part, { least }] of entries) part.reserved = Math.min(part.reserved, least);
      const granted = await this.#counts.take([...entries.values()]);
      for (const [index, part] of [...entries.keys()].entries()) {
        part.reserved = granted[index] ?? part.reserved;
        part.isUncertain = false;
      }
    }
    // In the order of the requests.
    for (const { asks, parts, resolve } of waiting) resolve(this.#take(asks, parts));
  }

  /** Does the work while no other command on the parts is under way. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#turn.then(work);
    this.#turn = turn.catch(() => {});
    return turn;
  }
}

function spareOf(max: number): number {
  return Math.floor(max / SPARE_PARTS);
}

function stopped(): Error {
  return new Error('this process stops');
}

function summed(
  waiting: readonly Waiting[],
): ReadonlyMap<Part, { readonly by: number; readonly max: number }> {
  const sums = new Map<Part, { by: number; max: number }>();
  for (const { asks, parts } of waiting)
    for (const [index, part] of parts.entries()) {
      const { by = 0, max = 0 } = asks[index] ?? {};
      sums.set(part, { by: (sums.get(part)?.by ?? 0) + by, max });
    }
  return sums;
}

function fieldOf(key: string, kind: HeldKind): string {
  return `${kind}\0${key}`;
}

function namesOf(field: string): readonly [key: string, kind: HeldKind] {
  const end = field.indexOf('\0');
  return [field.slice(end + 1), field.slice(0, end) as HeldKind];
}
