import { ApiProblem, type SystemFacts } from '@apus/api';
import type { StreamDeclarations } from '@apus/broker';
import { asyncApiOf, type ServerDescription, type Topics } from '@apus/topics/document';

/** A bridge as the construct has made it. */
export interface DeployedBridge {
  readonly tenant: string;
  readonly name: string;
  readonly type: 'kafka' | 'iot-core';
  readonly remote: string;
  /** Consumer group, of Kafka. */
  readonly group?: string;
}

/** The topics that the owner has described, and the address at which clients of the deployment connect. */
export interface DescribedTopics {
  readonly topics: Topics;
  readonly server: ServerDescription;
}

/** AWS runs the sources of a deployment's bridges: only AWS knows their state and their counts. */
const UNKNOWN = { status: null, since: null, last_error: null, in: {}, out: { waiting: null } };

export function bridgesOf(bridges: readonly DeployedBridge[], tenant: string): readonly object[] {
  const own = bridges.filter((bridge) => bridge.tenant === tenant);
  return own.map(({ tenant: _, ...bridge }) => ({ ...bridge, ...UNKNOWN }));
}

/** The AsyncAPI document for developers. It has no examples from live messages: a deployment keeps none. */
export function asyncApiFrom(
  described: DescribedTopics | undefined,
  streams: StreamDeclarations | undefined,
): SystemFacts['asyncApi'] {
  return (tenant) => {
    if (described === undefined)
      throw new ApiProblem('NOT_FOUND', 'No topics are described here: deploy with --topics FILE.');
    const { topics, server } = described;
    const shown = { tenant, servers: [server], streams: streams?.all ?? [], sampleOf: () => undefined };
    return asyncApiOf(topics, shown);
  };
}
