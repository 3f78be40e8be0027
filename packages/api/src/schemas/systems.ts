import { base64, count, list, nullable, object, oneOf, QOS, type Schema, text, time } from '../schema.ts';

const state: Readonly<Record<string, Schema>> = {
  status: oneOf(['connecting', 'connected', 'disconnected', 'stopped']),
  since: time(),
  last_error: nullable(text('Of the last trouble, also when it is over.')),
};

const crossed: Readonly<Record<string, Schema>> = {
  'forwarded?': count('Durable at the side that they go to.'),
  'refused?': count('The other side refused them for good.'),
  'looped?': count('They had crossed as many bridges as they may.'),
  'dropped?': count('QoS 0 that no side could take.'),
};

const deadLetter: Readonly<Record<string, Schema>> = {
  id: text(),
  topic: text(),
  qos: QOS,
  payload_bytes: count(),
  error: text('Why the rule gave it up.'),
  attempts: count(),
  failed_at: time(),
};

/** Fields that only a node has. */
function ofNode(fields: Readonly<Record<string, Schema>>): Readonly<Record<string, Schema>> {
  return Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, nullable(schema)]));
}

export const systemSchemas: Readonly<Record<string, Schema>> = {
  Bridge: object(
    {
      name: text(),
      type: oneOf(['mqtt', 'kafka', 'iot-core'], 'At a node AWS IoT Core is `mqtt`.'),
      remote: text('Its address; of a deployment, the topics of AWS IoT Core that come from there.'),
      'group?': text('Consumer group, of Kafka.'),
      ...ofNode(state),
      in: object({
        ...crossed,
        'lag?': nullable(
          count('Records of Kafka that have not been published yet; null: Kafka does not say.'),
        ),
        'skipped?': count('Records of Kafka that can be no message.'),
      }),
      out: object({
        ...crossed,
        'inflight?': count('Messages on their way.'),
        waiting: nullable(count('Messages in the queue.')),
      }),
    },
    'A bridge. Null, and counts that are absent: a deployment does not know them.',
  ),
  MessageRule: object(
    {
      name: text(),
      filter: text(),
      when: nullable(text('Its condition.')),
      type: text('Of the target: webhook, iot-core, …'),
      remote: text(),
      ...ofNode({
        ...state,
        matched: count(),
        filtered: count('The condition is false.'),
        condition_failed: count(),
        looped: count(),
        sent: count(),
        failed_attempts: count(),
        dead: count(),
        waiting: count(),
        inflight: count(),
      }),
      'given_back?': count(
        'In a cluster: messages of publishers at other processes that the queue had no room for, and that waited there.',
      ),
      'given_up?': count('Those among them that found no room in time: their publishers were refused.'),
      dead_letters: count(),
    },
    'A rule. Null: a deployment does not know it of one rule; CloudWatch counts all of them together.',
  ),
  RuleQueue: object(
    {
      waiting: count('Messages, as SQS estimates them.'),
      inflight: count('Messages on their way to a target, as SQS estimates them.'),
    },
    'The queue of all rules of a deployment, and of all tenants.',
  ),
  DeadLetter: object(deadLetter, 'A message that a rule has given up.'),
  DeadLetterWithPayload: object({
    ...deadLetter,
    retain: { type: 'boolean' },
    user_properties: list(list(text(), undefined, { minItems: 2, maxItems: 2 }), 'Pairs of name and value.'),
    payload: base64(),
  }),
  DeadLettersSent: object({
    sent: count(),
    failed: oneOf([0, 1], 'The first that fails ends the round.'),
    'error?': text(),
  }),
};
