import { answer, type Operation } from '../operation.ts';
import { list, object, ref } from '../schema.ts';

const tag = 'Breaker and quotas';

export const boundOperations = {
  getBreaker: {
    method: 'GET',
    path: '/breaker',
    tag,
    summary: 'Answers whether the breaker has stopped clients, and how near the last minute came to that.',
    description:
      'The state is up to ten seconds old, and the minute is the newest that CloudWatch has. docs/runbook.md (Runaway) says what trips the breaker.',
    answers: {
      200: answer('The state of the breaker.', ref('Breaker')),
      404: answer('The deployment has no breaker.', ref('Problem')),
    },
    doors: ['deployment'],
    elsewhere: 'A node has no breaker: its clients take turns, and nothing of it is billed by use.',
    scope: 'broker',
  },
  listQuotas: {
    method: 'GET',
    path: '/quotas',
    tag,
    summary:
      'Lists the quotas of a tenant, of each of its identities, and of all tenants together, with what is used.',
    description:
      'Deliveries a minute are those of the last 55 to 60 seconds, at a node and at all processes of a cluster together; a deployment does not count them. A deployment counts sessions and connections at most once a minute.',
    answers: {
      200: answer('The quotas that bound something.', object({ data: list(ref('Quota')) })),
    },
    scope: 'tenant',
  },
} as const satisfies Readonly<Record<string, Operation>>;
