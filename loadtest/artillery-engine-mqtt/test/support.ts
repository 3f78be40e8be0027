import { type RunningDoors, startDoors } from '@apus/cli';
import { onTestFinished } from 'vitest';
import type { Context, Helpers } from '../src/artillery.ts';
import { MqttEngine } from '../src/index.ts';

export type Door = 'node' | 'gateway';

export async function brokerForTest(options: Parameters<typeof startDoors>[0] = {}): Promise<RunningDoors> {
  const node = await startDoors({ port: 0, gatewayPort: 0, logSink: () => {}, ...options });
  onTestFinished(() => node.stop());
  return node;
}

/** A minimal version of Artillery's own: one variable at a time, and seconds. */
export const helpers: Helpers = {
  template(value, { vars }) {
    if (typeof value !== 'string') return value;
    return value.replaceAll(/\{\{\s*([\w$]+)\s*\}\}/g, (_, name: string) => String(vars[name]));
  },
  createThink: (step) => (_context, callback) => {
    setTimeout(callback, Number((step as { think: number }).think) * 1_000);
  },
};

/** The counts, as in Artillery's report. */
export class Metrics {
  readonly counters: Record<string, number> = {};
  readonly histograms: Record<string, number[]> = {};
  readonly errors: string[] = [];
  started = 0;

  emit(event: string, name?: string, value?: number): void {
    if (event === 'started') this.started += 1;
    if (event === 'error' && name !== undefined) this.errors.push(name);
    if (event === 'counter' && name !== undefined)
      this.counters[name] = (this.counters[name] ?? 0) + (value ?? 0);
    if (event === 'histogram' && name !== undefined && value !== undefined) {
      this.histograms[name] ??= [];
      this.histograms[name].push(value);
    }
  }
}

export interface EngineRun {
  readonly engine: MqttEngine;
  readonly metrics: Metrics;
  /** The error of each virtual user that failed. */
  readonly errors: readonly (Error | null)[];
  readonly contexts: readonly Context[];
}

export interface EngineTest {
  readonly users?: number;
  readonly door?: Door;
  readonly mqtt?: object;
  readonly config?: object;
}

/** Runs a flow with this many virtual users at once, as Artillery's runner does. */
export async function runFlowForTest(
  node: RunningDoors,
  flow: readonly unknown[],
  { users = 1, door = 'node', mqtt = {}, config = {} }: EngineTest = {},
): Promise<EngineRun> {
  const target = door === 'node' ? node.url : (node.gateway?.url ?? '');
  const frames = door === 'node' ? 'binary' : 'text';
  const engine = new MqttEngine(
    { config: { target, engines: { mqtt: { frames, ...mqtt } }, ...config } },
    undefined,
    helpers,
  );
  onTestFinished(() => engine.close());
  const metrics = new Metrics();
  const scenario = engine.createScenario({ name: 'test', flow }, metrics);
  const contexts = Array.from(
    { length: users },
    (_, index): Context => ({ vars: { $uuid: `user-${index}` }, funcs: {} }),
  );
  const errors = await Promise.all(
    contexts.map(
      (context) => new Promise<Error | null>((resolve) => scenario(context, (error) => resolve(error))),
    ),
  );
  return { engine, metrics, errors, contexts };
}
