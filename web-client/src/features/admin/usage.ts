import type { UsageLine } from './admin-api.ts';

/** The period of a point in the graph, and how far back it goes. */
export const USAGE_STEPS = ['hour', 'day'] as const;
export type UsageStep = (typeof USAGE_STEPS)[number];

const HOUR_MS = 3_600_000;
const BACK_MS: Readonly<Record<UsageStep, number>> = { hour: 48 * HOUR_MS, day: 31 * 24 * HOUR_MS };
const STEP_MS: Readonly<Record<UsageStep, number>> = { hour: HOUR_MS, day: 24 * HOUR_MS };
const LENGTHS: Readonly<Record<UsageStep, number>> = { hour: 13, day: 10 };

/** The question for `GET /usage`, up to now. */
export function questionOf(step: UsageStep, nowMs: number): Readonly<Record<string, string>> {
  return { by: step, from: nameOf(step, nowMs - BACK_MS[step]) };
}

function nameOf(step: UsageStep, atMs: number): string {
  return new Date(atMs).toISOString().slice(0, LENGTHS[step]);
}

/** The usage of all tenants in one hour or day; 0 without usage. */
export interface UsagePoint {
  readonly atMs: number;
  readonly messagesIn: number;
  readonly messagesOut: number;
}

/** Every step of the requested time, including steps without usage. */
export function pointsOf(lines: readonly UsageLine[], step: UsageStep, nowMs: number): readonly UsagePoint[] {
  const firstMs = startMs(nameOf(step, nowMs - BACK_MS[step]));
  const points: UsagePoint[] = [];
  for (let atMs = firstMs; atMs <= nowMs; atMs += STEP_MS[step]) {
    const own = lines.filter(({ time }) => time === nameOf(step, atMs));
    points.push({ atMs, messagesIn: sumOf(own, inOf), messagesOut: sumOf(own, outOf) });
  }
  return points;
}

function startMs(name: string): number {
  return Date.parse(name.length === LENGTHS.hour ? `${name}:00:00Z` : `${name}T00:00:00Z`);
}

export interface TenantUsage {
  readonly tenant: string;
  readonly connectionHours: number;
  readonly messagesIn: number;
  readonly messagesOut: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** Each tenant, the one with most messages first. */
export function byTenant(lines: readonly UsageLine[]): readonly TenantUsage[] {
  const names = [...new Set(lines.map(({ tenant }) => tenant))];
  const all = names.map((tenant): TenantUsage => {
    const own = lines.filter((line) => line.tenant === tenant);
    return {
      tenant,
      connectionHours: sumOf(own, ({ connectionMs }) => connectionMs) / HOUR_MS,
      messagesIn: sumOf(own, inOf),
      messagesOut: sumOf(own, outOf),
      bytesIn: sumOf(own, ({ bytesIn }) => bytesIn),
      bytesOut: sumOf(own, ({ bytesOut }) => bytesOut),
    };
  });
  const messages = ({ messagesIn, messagesOut }: TenantUsage) => messagesIn + messagesOut;
  return all.sort((one, other) => messages(other) - messages(one));
}

const inOf = ({ messagesIn }: UsageLine) => messagesIn;

const outOf = ({ messagesOutQos0, messagesOutQos1, messagesOutQos2 }: UsageLine) =>
  messagesOutQos0 + messagesOutQos1 + messagesOutQos2;

function sumOf(lines: readonly UsageLine[], of: (line: UsageLine) => number): number {
  return lines.reduce((sum, line) => sum + of(line), 0);
}
