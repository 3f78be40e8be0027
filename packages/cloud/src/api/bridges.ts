import { type ApiContext, type Handlers, ok } from './context.ts';

/** A bridge as the construct has made it. */
export interface DeployedBridge {
  readonly tenant: string;
  readonly name: string;
  readonly type: 'kafka' | 'iot-core';
  readonly remote: string;
  /** Consumer group, of Kafka. */
  readonly group?: string;
}

/** AWS runs the sources of a deployment's bridges: only AWS knows their state and their counts. */
const UNKNOWN = { status: null, since: null, last_error: null, in: {}, out: { waiting: null } };

export function bridgeHandlers({ bridges = [] }: ApiContext) {
  return {
    listBridges: ({ tenant }) => {
      const own = bridges.filter((bridge) => bridge.tenant === tenant);
      return ok({ data: own.map(({ tenant: _, ...bridge }) => ({ ...bridge, ...UNKNOWN })) });
    },
  } satisfies Partial<Handlers>;
}
