import type { Model, StoreUse } from './model.ts';

/** API Gateway bills a message for each 32 KB begun. */
const BILLED_BYTES = 32_768;

/** The work of a frame besides its calls on the store. */
export interface FrameWork {
  readonly use: StoreUse;
  readonly replyBytes: number;
  /**
   * `handshake`: `$connect`, which is no message. `loss`: `$disconnect`, which is not throttled. `acknowledgement`: a
   * message that has no reply. `sign`: a sign of life, a message whose route invokes no function.
   *
   * @default 'message'
   */
  readonly kind?: 'message' | 'acknowledgement' | 'handshake' | 'loss' | 'sign';
  /** Posts, jobs: calls `then` when the reply may be sent, with whether it may. */
  readonly work?: (then: (isDone: boolean) => void) => void;
  /** The reply has reached the client, or never will. */
  readonly onEnd?: (isAnswered: boolean) => void;
}

/** Frames from clients at the gateway: throttles, then a function, then the reply. */
export class Frames {
  readonly #model: Model;

  constructor(model: Model) {
    this.#model = model;
  }

  receive(frame: FrameWork): void {
    const { account, loop } = this.#model;
    const { kind = 'message' } = frame;
    const isTaken =
      kind === 'loss' || (account.requests.take(loop.nowMs) && account.stageFrames.take(loop.nowMs));
    if (!isTaken) {
      this.#model.count((tally) => {
        tally.framesRefused += 1;
      });
      frame.onEnd?.(false);
      return;
    }
    this.#model.count((tally) => {
      if (kind === 'message' || kind === 'acknowledgement' || kind === 'sign') tally.framesIn += 1;
    });
    if (kind === 'sign') return;
    loop.after(this.#hopMs(), () => this.#start(frame));
  }

  #start(frame: FrameWork): void {
    const { account, loop, random, times } = this.#model;
    const start = account.functions.enter(loop.nowMs);
    if (start === 'throttled') {
      this.#model.count((tally) => {
        tally.framesWithoutFunction += 1;
      });
      frame.onEnd?.(false);
      return;
    }
    const startedAtMs = loop.nowMs;
    const coldMs = start === 'cold' ? random.latency(times.coldStart) : 0;
    loop.after(coldMs + this.#model.cpu(times.frameCpuMs), () => {
      this.#model.useStore(frame.use, (isRead) => {
        const end = (isDone: boolean) => this.#end(frame, startedAtMs, isDone);
        if (!isRead || frame.work === undefined) end(isRead);
        else frame.work(end);
      });
    });
  }

  #end(frame: FrameWork, startedAtMs: number, isDone: boolean): void {
    const { account, loop } = this.#model;
    account.functions.leave();
    this.#model.count((tally) => {
      tally.invocations += 1;
      tally.billedMs += Math.ceil(loop.nowMs - startedAtMs);
      if (!isDone) tally.framesFailed += 1;
      else if ((frame.kind ?? 'message') === 'message') {
        tally.replies += Math.max(1, Math.ceil(frame.replyBytes / BILLED_BYTES));
        tally.bytesOut += frame.replyBytes;
      }
    });
    loop.after(this.#hopMs(), () => frame.onEnd?.(isDone));
  }

  #hopMs(): number {
    return this.#model.random.latency(this.#model.times.gatewayHop);
  }
}
