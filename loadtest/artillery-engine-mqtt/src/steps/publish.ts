import { HEADER_BYTES } from '@apus/loadtest/measure';
import { StepFields } from '../fields.ts';
import { UserError } from '../step-error.ts';
import type { VirtualUser } from '../virtual-user.ts';
import type { Step, StepMaker } from './step.ts';

const MICROS_PER_SECOND = 1_000_000;
const PAYLOAD_BYTES_MAX = 1_048_576;
const MESSAGES_MAX = 100_000_000;

/**
 * `publish: { topic: "a/{{ $place }}", qos: 1, bytes: 200 }` publishes once and waits for the acknowledgement; with
 * `perSecond` and `messages` or `seconds` it publishes at that rate, and waits for the last one at the end.
 */
export const publish: StepMaker = (value) => {
  const fields = new StepFields('publish', value);
  const message: MessageFields = {
    topic: fields.needText('topic'),
    qos: fields.oneOf('qos', [0, 1, 2]) ?? 0,
    retain: fields.flag('retain') ?? false,
    bytes: fields.amount('bytes') ?? HEADER_BYTES,
    payload: fields.given('payload'),
    isMeasured: fields.flag('measure') ?? true,
  };
  const perSecond = fields.amount('perSecond');
  const messages = fields.amount('messages');
  const seconds = fields.amount('seconds');
  fields.nothingElse();
  if (messages !== undefined && seconds !== undefined) fields.fail('seconds', 'excludes "messages"');
  if (perSecond === undefined && seconds !== undefined) fields.fail('seconds', 'needs "perSecond"');
  if (perSecond === undefined && messages === undefined) return publishOnce(message);
  return publishPaced(message, perSecond ?? 0, { messages, seconds });
};

interface MessageFields {
  readonly topic: string;
  readonly qos: 0 | 1 | 2;
  readonly retain: boolean;
  readonly bytes: number | string;
  readonly payload: unknown;
  readonly isMeasured: boolean;
}

function publishOnce(message: MessageFields): Step {
  return (user) => send(user, message, user.around.recorder.now());
}

/** Users with the same role take turns: the messages of a thousand publishers are spread over their period. */
function publishPaced(
  message: MessageFields,
  perSecond: number | string,
  length: { readonly messages: number | string | undefined; readonly seconds: number | string | undefined },
): Step {
  return async (user) => {
    const { recorder } = user.around;
    const rate = user.fillNumber(perSecond, 'perSecond');
    const count =
      length.messages === undefined
        ? Math.max(1, Math.round(rate * user.fillNumber(length.seconds ?? 1, 'seconds')))
        : user.fillNumber(length.messages, 'messages');
    if (count > MESSAGES_MAX) throw new UserError('too_many_messages', `${count} messages are too many`);
    const periodMicros = rate > 0 ? MICROS_PER_SECOND / rate : 0;
    const { index, of } = user.place;
    const startMicros = recorder.now();
    const underWay: Promise<void>[] = [];
    for (let counter = 0; counter < count; counter += 1) {
      const dueMicros = startMicros + Math.round((counter + index / of) * periodMicros);
      const waitMs = (dueMicros - recorder.now()) / 1_000;
      if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
      if (user.isStopped) return;
      underWay.push(send(user, message, Math.min(dueMicros, recorder.now())));
    }
    await Promise.all(underWay);
  };
}

async function send(user: VirtualUser, message: MessageFields, dueMicros: number): Promise<void> {
  const { events } = user.around;
  const { qos, retain } = message;
  const topic = user.fillText(message.topic);
  const client = user.needClient;
  const payload = payloadOf(user, message);
  const publisher = message.isMeasured ? user.publisher(topic, qos, payload.length) : undefined;
  if (!client.connected) {
    if (publisher !== undefined) publisher.notSent += 1;
    events.emit('counter', 'mqtt.messages_not_sent', 1);
    return;
  }
  const counter = publisher?.stamp(payload, dueMicros);
  const beganMs = performance.now();
  events.emit('counter', 'mqtt.messages_sent', 1);
  events.emit('rate', 'mqtt.send_rate');
  try {
    await client.publishAsync(topic, payload, { qos, retain });
  } catch (error) {
    if (user.isStopped) return;
    // The broker has refused the message: it stays unacknowledged.
    user.around.recorder.problem(`a message was not taken: ${(error as Error).message}`);
    events.emit('error', 'mqtt.publish_failed');
    return;
  }
  if (qos === 0) return;
  if (counter !== undefined) publisher?.acknowledged(counter);
  events.emit('counter', 'mqtt.messages_acknowledged', 1);
  events.emit('histogram', 'mqtt.acknowledge_ms', performance.now() - beganMs);
}

/** The header, then the script's text, then zeros up to the size; without the header if the script does not want it. */
function payloadOf(user: VirtualUser, { bytes, payload, isMeasured }: MessageFields): Buffer {
  const content = contentOf(user.fill(payload));
  if (!isMeasured) return content;
  const size = Math.max(HEADER_BYTES + content.length, Math.round(user.fillNumber(bytes, 'bytes')));
  if (size > PAYLOAD_BYTES_MAX) throw new UserError('payload_too_large', `${size} bytes are too many`);
  const buffer = Buffer.alloc(size);
  content.copy(buffer, HEADER_BYTES);
  return buffer;
}

function contentOf(payload: unknown): Buffer {
  if (payload === undefined || payload === null) return Buffer.alloc(0);
  return Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload));
}
