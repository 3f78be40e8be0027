import type { Progress } from '../generator/load-worker.ts';
import type { RunPhase } from '../generator/run-fast.ts';
import type { RunSettings } from './settings.ts';

/** The time between two lines if standard error is no terminal. */
const LINE_MS = 5_000;

/** The progress of a run: one changing line on a terminal, otherwise a line now and then. */
export class ProgressLine {
  #shownAtMs = Number.NEGATIVE_INFINITY;
  #phase: RunPhase | undefined;

  show(phase: RunPhase, { ready, failed, clients, sent, received, underWay }: Progress): void {
    const count = (value: number) => value.toLocaleString('en');
    const failures = failed > 0 ? `, ${count(failed)} failed` : '';
    const text =
      phase === 'connecting'
        ? `${count(ready)} of ${count(clients)} clients are ready${failures}`
        : `${count(sent)} sent, ${count(received)} received, ${count(underWay)} under way`;
    this.#write(phase, `${phase}: ${text}`);
  }

  end(): void {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  }

  #write(phase: RunPhase, text: string): void {
    if (process.stderr.isTTY) {
      process.stderr.write(`\r\x1b[K${text}`);
      return;
    }
    const nowMs = performance.now();
    if (phase === this.#phase && nowMs - this.#shownAtMs < LINE_MS) return;
    this.#phase = phase;
    this.#shownAtMs = nowMs;
    console.error(text);
  }
}

/** Announces the run. */
export function beginText(
  { scenario, plan, target, generator, processes, reason }: RunSettings,
  hasCounters: boolean,
) {
  const count = (value: number) => Math.round(value).toLocaleString('en');
  const { scale, seconds, part } = plan.size;
  const size = scale === 1 ? 'full size' : `${(scale * 100).toPrecision(3)}% of full size`;
  const why = reason === undefined ? '' : ` (${reason})`;
  const whole = part.of === 1 ? '' : `, part ${part.number} of ${part.of}`;
  const pace = plan.isClosedLoop
    ? 'as many messages as come back'
    : `${count(plan.publishesPerSecond)} publishes and ${count(plan.deliveriesPerSecond)} deliveries a second`;
  const many = generator === 'fast' ? `${processes} processes` : 'Artillery';
  return [
    `${scenario.name}: ${scenario.title}`,
    `  ${size}${why}${whole}: ${count(plan.clients)} clients, ${pace} for ${seconds} s`,
    `  at ${target.url}, ${target.door} door, by ${many}${hasCounters ? '; the broker tells its counters' : ''}`,
    'Ctrl+C ends it with the report so far.',
  ].join('\n');
}
