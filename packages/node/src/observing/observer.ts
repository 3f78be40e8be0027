import type { MonitorSample } from '@apus/api';
import { type Clock, DROP_NAMES, type DropReason, SparingLog } from '@apus/broker';
import type { DropMeter } from '@apus/door';
import { Alarms, type Gauges } from './alarms.ts';
import { ClientEvents, type Fields } from './client-events.ts';
import { LogTraces } from './log-traces.ts';
import { Monitor } from './monitor.ts';

export interface ObserverSources {
  readonly drops: DropMeter;
  figures(): Omit<MonitorSample, 'time_stamp'>;
  gauges(): Gauges;
}

/** What the node remembers for its operator: the history of clients and figures, alarms, and traces of the log. */
export class Observer {
  readonly events: ClientEvents;
  readonly alarms: Alarms;
  readonly traces: LogTraces;
  readonly #clock: Clock;
  #monitor: Monitor | undefined;
  #sources: ObserverSources | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.events = new ClientEvents(clock);
    this.alarms = new Alarms(clock);
    this.traces = new LogTraces(clock);
  }

  /** The log exists before what it tells of. */
  begin(sources: ObserverSources): void {
    this.#sources = sources;
    this.#monitor = new Monitor(this.#clock, () => sources.figures());
  }

  note(level: string, event: string, fields: Fields | undefined): void {
    this.events.note(event, fields);
    // Each connection writes lines for debugging: no alarm is among them.
    if (level !== 'debug') this.alarms.note(level, event, fields);
    if (this.traces.isRunning) this.traces.note(level, event, fields);
  }

  /** At each look of the sweep. Nearly all of them cost two comparisons. */
  look(): void {
    if (this.traces.isRunning) this.traces.look();
    const sample = this.#monitor?.look();
    if (sample === undefined || this.#sources === undefined) return;
    this.alarms.look(sample, this.#sources.gauges());
    for (const { tenant, clientId, counts } of this.#sources.drops.takeGrowth())
      for (const [why, count] of Object.entries(counts))
        this.events.add(
          {
            ...{ kind: 'dropped', tenant, clientId, name: null, address: null, reasonCode: null },
            reason: DROP_NAMES[why as DropReason],
          },
          count,
        );
  }

  latest(seconds: number): readonly MonitorSample[] {
    return this.#monitor?.latest(seconds) ?? [];
  }
}

/** The log of a node, whose lines the observer sees before some are left out. */
export class ObservedLog extends SparingLog {
  readonly #observer: Observer;

  constructor(observer: Observer, ...given: ConstructorParameters<typeof SparingLog>) {
    super(...given);
    this.#observer = observer;
  }

  override get writesDebug(): boolean {
    return this.#observer.traces.isRunning || super.writesDebug;
  }

  override debug(event: string, fields?: Fields): void {
    this.#observer.note('debug', event, fields);
    if (super.writesDebug) super.debug(event, fields);
  }

  override info(event: string, fields?: Fields): void {
    this.#observer.note('info', event, fields);
    super.info(event, fields);
  }

  override warn(event: string, fields?: Fields): void {
    this.#observer.note('warn', event, fields);
    super.warn(event, fields);
  }

  override error(event: string, fields?: Fields): void {
    this.#observer.note('error', event, fields);
    super.error(event, fields);
  }
}
