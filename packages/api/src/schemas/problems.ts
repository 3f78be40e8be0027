import { PROBLEM_CODES } from '../problem.ts';
import { count, list, object, oneOf, ref, type Schema, text } from '../schema.ts';

export const problemSchemas: Readonly<Record<string, Schema>> = {
  Problem: object(
    { code: oneOf(PROBLEM_CODES, 'For programs.'), message: text('For people, in a sentence.') },
    'A request that is not answered, as EMQX words it.',
  ),
  PublishFailure: object(
    { reason_code: count('A reason code of MQTT 5.', { minimum: 128, maximum: 255 }), message: text() },
    'A message that was not taken.',
  ),
  PublishReceipt: object({ id: text('Of the message.') }, 'The message has left for every subscriber.'),
  PublishedToNone: object(
    { reason_code: oneOf([16]), message: oneOf(['no_matching_subscribers']) },
    'The message was taken, retained where that was asked for, and had no subscriber.',
  ),
  PublishOutcome: {
    oneOf: [ref('PublishReceipt'), ref('PublishedToNone'), ref('PublishFailure')],
  },
  PublishProblem: {
    description: 'Of the request, of its message, or of each message of a list.',
    oneOf: [ref('Problem'), ref('PublishFailure'), list(ref('PublishOutcome'))],
  },
};
