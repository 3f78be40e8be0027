import type { StreamDeclaration } from '@apus/broker';
import { STREAM_APPENDS_BYTES, STREAM_APPENDS_STEP } from '../limits.ts';

type Argument = string | number | Buffer;

/** A message that the engine has not answered. */
interface Appended {
  readonly args: readonly Argument[];
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Appends to a stream of a tenant that travel together. */
interface Step {
  readonly tenant: string;
  readonly stream: StreamDeclaration;
  readonly messages: Appended[];
  nowMs: number;
  bytes: number;
}

/** Runs the script for the messages of a step. Answers for each of them, in their order. */
type AppendAll = (
  tenant: string,
  stream: StreamDeclaration,
  nowMs: number,
  args: readonly Argument[],
) => Promise<readonly unknown[]>;

/**
 * Messages for one stream that come while the engine is asked are its next step together. A stream has one step under
 * way: when that fails, so do the messages behind it, as none of them may come before those of the step.
 */
export class GatheredAppends {
  readonly #appendAll: AppendAll;
  /** By stream: messages that have not been sent, in steps. */
  readonly #waiting = new Map<string, Step[]>();
  /** Streams for which the engine is asked. */
  readonly #underWay = new Set<string>();

  constructor(appendAll: AppendAll) {
    this.#appendAll = appendAll;
  }

  /** @param args those of one message, which has so many bytes */
  append(
    tenant: string,
    stream: StreamDeclaration,
    nowMs: number,
    args: readonly Argument[],
    bytes: number,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const step = this.#stepFor(tenant, stream, bytes);
      step.messages.push({ args, resolve, reject });
      step.bytes += bytes;
      step.nowMs = Math.max(step.nowMs, nowMs);
    });
  }

  #stepFor(tenant: string, stream: StreamDeclaration, bytes: number): Step {
    const name = `${tenant}\0${stream.name}`;
    let steps = this.#waiting.get(name);
    if (steps === undefined) {
      steps = [];
      this.#waiting.set(name, steps);
      // With those that come in this turn.
      if (!this.#underWay.has(name)) setImmediate(() => this.#sendNext(name));
    }
    const last = steps.at(-1);
    const hasRoom =
      last !== undefined &&
      last.messages.length < STREAM_APPENDS_STEP &&
      last.bytes + bytes <= STREAM_APPENDS_BYTES;
    if (hasRoom) return last;
    const step: Step = { tenant, stream, messages: [], nowMs: 0, bytes: 0 };
    steps.push(step);
    return step;
  }

  #sendNext(name: string): void {
    const steps = this.#waiting.get(name);
    const step = steps?.shift();
    if (steps?.length === 0) this.#waiting.delete(name);
    if (step !== undefined) void this.#send(name, step);
  }

  async #send(name: string, { tenant, stream, nowMs, messages }: Step): Promise<void> {
    this.#underWay.add(name);
    try {
      const args = messages.flatMap((each) => each.args);
      const answers = await this.#appendAll(tenant, stream, nowMs, args);
      for (const [index, { resolve }] of messages.entries()) resolve(answers[index]);
    } catch (error) {
      const behind = this.#waiting.get(name) ?? [];
      this.#waiting.delete(name);
      for (const { reject } of [...messages, ...behind.flatMap((each) => each.messages)]) reject(error);
    }
    this.#underWay.delete(name);
    // With those that the answers bring.
    if (this.#waiting.has(name)) setImmediate(() => this.#sendNext(name));
  }
}
