import { count, list, object, oneOf, ref, type Schema, text } from '../schema.ts';

/** A code for programs. */
export const PROBLEM_CODES = [
  ...([
    'BAD_REQUEST',
    'ALREADY_EXISTS',
    'TOO_MANY',
    'BAD_API_KEY_OR_SECRET',
    'BAD_TOKEN',
    'API_CLOSED',
    'NOT_LOCAL',
  ] as const),
  ...(['FORBIDDEN', 'NOT_FOUND', 'CLIENTID_NOT_FOUND', 'METHOD_NOT_ALLOWED', 'POSITION_LOST'] as const),
  ...(['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE', 'TOO_MANY_REQUESTS'] as const),
  ...(['INTERNAL_ERROR', 'NOT_SUPPORTED', 'NOT_SENT', 'SERVICE_UNAVAILABLE'] as const),
] as const;

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
