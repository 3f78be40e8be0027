import { BroadcastChannel, threadId } from 'node:worker_threads';
import type { Statistics } from '@apus/client';
import { type FrameCounts, Recorder, WORKERS_MAX } from '@apus/loadtest/measure';
import type { Context, Events, Helpers, ScenarioSpec, Script, VirtualUserFunction } from './artillery.ts';
import { Barriers } from './barrier.ts';
import { compile } from './compile.ts';
import { configOf, type EngineConfig } from './config.ts';
import { LedgerFile } from './ledger-file.ts';
import { runTagOf } from './run-tag.ts';
import { UserError } from './step-error.ts';
import { leave } from './steps/disconnect.ts';
import { runFlow } from './steps/step.ts';
import { VirtualUser } from './virtual-user.ts';

/**
 * MQTT for Artillery: `config.engines.mqtt` in a script, and `engine: mqtt` in its scenarios. Artillery makes one of
 * it for each worker.
 */
export class MqttEngine {
  readonly recorder: Recorder;
  readonly #script: Script;
  readonly #helpers: Helpers;
  readonly #config: EngineConfig;
  readonly #frames: Readonly<Statistics>[] = [];
  readonly #ledgerFile: LedgerFile | undefined;
  readonly #users = new Set<VirtualUser>();
  #barriers: Barriers | undefined;

  /** @throws {StepError} if `config.target` or `config.engines.mqtt` is invalid */
  constructor(script: Script, _events: unknown, helpers: Helpers) {
    this.#script = script;
    this.#helpers = helpers;
    this.#config = configOf(script);
    const { clock, ledgers, frames } = this.#config;
    const runTag = this.#config.runTag ?? runTagOf();
    this.recorder = new Recorder({ runTag, worker: threadId % WORKERS_MAX, clock });
    if (frames === 'text') this.recorder.frames = () => sumOf(this.#frames);
    if (ledgers !== undefined) this.#ledgerFile = new LedgerFile(ledgers, this.recorder);
  }

  /** @throws {StepError} for an invalid flow */
  createScenario(spec: ScenarioSpec, events: Events): VirtualUserFunction {
    const steps = compile(spec.flow, this.#script, this.#helpers);
    // Its channel is opened only if virtual users run.
    this.#barriers ??= new Barriers(new BroadcastChannel(`artillery-engine-mqtt-${process.pid}`));
    this.#ledgerFile?.whenAskedToStop(() => void this.#stop());
    const around = {
      config: this.#config,
      recorder: this.recorder,
      barriers: this.#barriers,
      events,
      template: (value: unknown, context: Context) => this.#helpers.template(value, context),
      countFrames: (statistics: Readonly<Statistics>) => void this.#frames.push(statistics),
    };
    return (context, callback) => {
      events.emit('started');
      const user = new VirtualUser(context, around);
      this.#users.add(user);
      runFlow(steps, user)
        .catch((error: Error) => this.#failed(user, error))
        .then(async (error) => {
          await leave(user, error !== undefined);
          this.#users.delete(user);
          // It may be the last virtual user: Artillery ends its workers without telling them.
          if (this.#users.size === 0) this.#ledgerFile?.write();
          callback(error ?? null, context);
        });
    };
  }

  /** Closes channels and timers that would keep a process alive. */
  close(): void {
    this.#barriers?.close();
    this.#ledgerFile?.close();
  }

  /** Ends all virtual users, and writes the counts. */
  async #stop(): Promise<void> {
    for (const user of this.#users) user.isStopped = true;
    await Promise.allSettled([...this.#users].map((user) => leave(user)));
    this.#ledgerFile?.write();
  }

  #failed(user: VirtualUser, error: Error): Error | undefined {
    if (user.isStopped) return undefined;
    const code = error instanceof UserError ? error.code : 'unexpected';
    user.around.events.emit('error', `mqtt.${code}`);
    this.recorder.problem(error.message);
    user.around.barriers.userGone(user.barriers);
    return error;
  }
}

function sumOf(all: readonly Readonly<Statistics>[]): FrameCounts {
  const sum = (name: keyof FrameCounts) => all.reduce((total, each) => total + each[name], 0);
  return {
    framesSent: sum('framesSent'),
    framesReceived: sum('framesReceived'),
    bytesSent: sum('bytesSent'),
    bytesReceived: sum('bytesReceived'),
    messagesBilled: sum('messagesBilled'),
  };
}

export { StepError } from './step-error.ts';
