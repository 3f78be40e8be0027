import type { Context, Events } from '../artillery.ts';
import type { VirtualUser } from '../virtual-user.ts';

/** One step of a flow, which any virtual user can run. */
export type Step = (user: VirtualUser) => Promise<void>;

export interface Compiler {
  /** Compiles a list of steps, as in a loop or a role. */
  flow(specs: readonly unknown[], path: string): readonly Step[];
  /** The script's processor, by name. */
  processor(name: string): ((context: Context, events: Events) => Promise<void>) | undefined;
  think(spec: object): (context: Context) => Promise<void>;
}

/** Compiles a step of the script; `value` is the value under the step's name, `spec` the whole step. */
export type StepMaker = (value: unknown, compiler: Compiler, path: string, spec: object) => Step;

export async function runFlow(steps: readonly Step[], user: VirtualUser): Promise<void> {
  for (const step of steps) {
    if (user.isStopped) return;
    await step(user);
  }
}
