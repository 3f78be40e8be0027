import { HEADER_BYTES } from '@apus/loadtest/measure';
import { StepFields } from '../fields.ts';
import { UserError } from '../step-error.ts';
import { topicMatches } from '../topic-matches.ts';
import type { VirtualUser } from '../virtual-user.ts';
import type { StepMaker } from './step.ts';

const WITHIN_SECONDS = 10;
const SECONDS_MAX = 86_400;

/**
 * `expect: { topic: "a/+", messages: 2, within: 5 }`: waits for messages that no earlier `expect` has taken, among the
 * last thousand; the user fails without them. `capture: "name"` keeps the text of the last one in a variable.
 */
export const expectMessages: StepMaker = (value) => {
  const fields = new StepFields('expect', value === true ? {} : value);
  const topic = fields.text('topic') ?? '#';
  const messages = fields.amount('messages') ?? 1;
  const payload = fields.text('payload');
  const within = fields.number('within', 0, SECONDS_MAX) ?? WITHIN_SECONDS;
  const capture = fields.text('capture');
  const isMeasured = fields.flag('measured') ?? true;
  fields.nothingElse();
  const textOf = (bytes: Buffer) => (isMeasured ? trimmed(bytes.subarray(HEADER_BYTES)) : bytes.toString());
  return async (user) => {
    const filter = user.fillText(topic);
    const wanted = payload === undefined ? undefined : user.fillText(payload);
    const count = user.fillNumber(messages, 'messages');
    const untilMs = performance.now() + within * 1_000;
    for (let taken = 0; taken < count; taken += 1) {
      const message = await user.nextMessage(
        (each) =>
          topicMatches(filter, each.topic) && (wanted === undefined || textOf(each.payload) === wanted),
        untilMs - performance.now(),
      );
      if (message === undefined) throw missing(user, filter, taken, count, within);
      if (capture !== undefined) user.context.vars[capture] = textOf(message.payload);
    }
    user.around.events.emit('counter', 'mqtt.messages_expected', count);
  };
};

/** A measured payload ends with zeros that are not part of its text. */
function trimmed(bytes: Buffer): string {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 0) end -= 1;
  return bytes.toString('utf8', 0, end);
}

function missing(
  user: VirtualUser,
  filter: string,
  taken: number,
  count: number,
  seconds: number,
): UserError {
  user.around.events.emit('counter', 'mqtt.messages_missing', count - taken);
  return new UserError(
    'expect_timeout',
    `${taken} of ${count} messages on ${filter} came within ${seconds} s`,
  );
}
