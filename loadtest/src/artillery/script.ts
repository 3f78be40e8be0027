import { clientsOfPart, type Plan, type PlannedGroup } from '../scenario/plan.ts';
import type { Scenario } from '../scenario/scenario.ts';
import { ArtilleryError } from './artillery-error.ts';

export interface ScriptOptions {
  readonly scenario: Scenario;
  readonly plan: Plan;
  readonly url: string;
  readonly door: 'node' | 'gateway';
  readonly credentials: {
    readonly username: string | undefined;
    readonly password: string | undefined;
    readonly token: string | undefined;
  };
  /** Undefined: derived from Artillery's own test id. */
  readonly runTag: number | undefined;
  /** Where the engine writes its ledgers. */
  readonly ledgers: string;
}

/** Seconds besides those for connecting and publishing. */
const GRACE_SECONDS = 60;

/** The run stops waiting for missing messages when none has come for this long. */
const SILENCE_SECONDS = 3;

/**
 * The scenario as a script for Artillery and the engine of `artillery-engine-mqtt`. Its phase is an `arrivalCount`,
 * which Artillery gives to a single worker: so roles are exact, and all clients wait at the same barriers.
 *
 * @throws {ArtilleryError} for a scenario that only the fast generator can run
 */
export function artilleryScript({ scenario, plan, url, door, credentials, runTag, ledgers }: ScriptOptions) {
  if (plan.isClosedLoop)
    throw new ArtilleryError('Only the fast generator waits for messages to come back: --generator fast');
  const users = clientsOfPart(plan);
  const connectSeconds = Math.max(1, users / scenario.connectsPerSecond);
  return {
    config: {
      target: url,
      // Artillery takes whole seconds as a number, and anything else as text.
      phases: [{ name: 'connect', duration: `${Math.round(connectSeconds * 1_000)}ms`, arrivalCount: users }],
      engines: {
        mqtt: {
          frames: door === 'gateway' ? 'text' : 'binary',
          version: scenario.mqttVersion,
          keepAliveSeconds: scenario.keepAliveSeconds,
          cleanStart: scenario.cleanStart,
          sessionExpirySeconds: scenario.sessionExpirySeconds,
          ...(credentials.username !== undefined && { username: credentials.username }),
          ...(credentials.password !== undefined && { password: credentials.password }),
          ...(credentials.token !== undefined && { token: credentials.token }),
          ...(runTag !== undefined && { runTag }),
          ledgers,
        },
      },
    },
    scenarios: [
      {
        name: scenario.name,
        engine: 'mqtt',
        flow: [{ roles: plan.groups.map((group) => roleOf(group, plan, users, connectSeconds)) }],
      },
    ],
  };
}

function roleOf(group: PlannedGroup, plan: Plan, users: number, connectSeconds: number) {
  const { subscribe, publish } = group;
  const { seconds } = plan.size;
  const barrier = (name: string, within: number) => ({
    barrier: { name, users, within: Math.ceil(within + GRACE_SECONDS) },
  });
  const isIdle = plan.publishesPerSecond === 0;
  return {
    name: group.name,
    users: group.clients,
    flow: [
      { connect: {} },
      ...(subscribe === undefined
        ? []
        : [
            {
              subscribe: {
                topics: subscribe.filters.map((filter) => templateOf(filter, group)),
                qos: subscribe.qos,
              },
            },
          ]),
      barrier('ready', connectSeconds),
      ...(isIdle ? [{ think: seconds }] : []),
      ...(publish === undefined
        ? []
        : [
            {
              publish: {
                topic: templateOf(publish.topic, group),
                qos: publish.qos,
                bytes: publish.payloadBytes,
                perSecond: publish.perSecond,
                seconds,
              },
            },
          ]),
      ...(isIdle ? [] : [barrier('published', seconds)]),
      ...(subscribe === undefined || isIdle ? [] : [{ drain: { silence: SILENCE_SECONDS } }]),
      barrier('drained', SILENCE_SECONDS),
      { disconnect: {} },
    ],
  };
}

/** Placeholders of a scenario as Artillery's variables. */
function templateOf(text: string, { name, publish }: PlannedGroup): string {
  const template = text
    .replaceAll('{client}', '{{ $place }}')
    .replaceAll('{stream}', (publish?.topics ?? 1) === 1 ? '{{ $place }}' : '{stream}');
  if (!/(?<!\{)\{[^{]/.test(template)) return template;
  throw new ArtilleryError(
    `The group "${name}" has topics that only the fast generator knows: --generator fast`,
  );
}
