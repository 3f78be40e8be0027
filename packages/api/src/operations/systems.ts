import { answer, type Operation, parameter } from '../operation.ts';
import { list, object, ref, text } from '../schema.ts';
import { notFound, PAGING } from './parameters.ts';

const rule = { name: parameter('Of the rule.', text()) } as const;
const letter = { ...rule, id: parameter('Of the dead letter.', text()) } as const;
const tag = 'Bridges and rules';
const at = '/rules/:name/dead_letters';

export const systemOperations = {
  listBridges: {
    method: 'GET',
    path: '/bridges',
    tag,
    summary: 'Lists bridges to other systems: their state, lag, errors and counts.',
    description:
      'Those of a deployment are event sources of Lambda and rules of AWS IoT Core: CloudWatch has their lag and errors.',
    answers: { 200: answer('All of them.', object({ data: list(ref('Bridge')) })) },
    scope: 'tenant',
  },
  listRules: {
    method: 'GET',
    path: '/rules',
    tag,
    summary: 'Lists rules: their state, and what they have sent.',
    answers: {
      200: answer('All of them.', object({ data: list(ref('MessageRule')), 'meta?': ref('RuleQueue') })),
    },
    scope: 'tenant',
  },
  listDeadLetters: {
    method: 'GET',
    path: at,
    tag,
    summary: 'Lists the messages that a rule has given up, the oldest first.',
    parameters: rule,
    query: PAGING,
    answers: { 200: answer('A page of messages.', ref('DeadLetterPage')), 404: notFound },
    scope: 'tenant',
  },
  sendDeadLetters: {
    method: 'POST',
    path: `${at}/send`,
    tag,
    summary: 'Sends dead letters again, up to the first that fails, and 1,000 at most.',
    parameters: rule,
    answers: { 200: answer('How many were sent.', ref('DeadLettersSent')), 404: notFound },
    scope: 'tenant',
  },
  discardDeadLetters: {
    method: 'DELETE',
    path: at,
    tag,
    summary: 'Deletes all dead letters of a rule.',
    parameters: rule,
    answers: { 204: answer('They are deleted.'), 404: notFound },
    scope: 'tenant',
  },
  getDeadLetter: {
    method: 'GET',
    path: `${at}/:id`,
    tag,
    summary: 'Answers one dead letter with its payload.',
    parameters: letter,
    answers: { 200: answer('The message.', ref('DeadLetterWithPayload')), 404: notFound },
    scope: 'tenant',
  },
  sendDeadLetter: {
    method: 'POST',
    path: `${at}/:id/send`,
    tag,
    summary: 'Sends one dead letter again.',
    parameters: letter,
    answers: {
      200: answer('It was sent.', ref('DeadLettersSent')),
      404: notFound,
      502: answer('The target did not take it: it stays.', ref('Problem')),
    },
    scope: 'tenant',
  },
  discardDeadLetter: {
    method: 'DELETE',
    path: `${at}/:id`,
    tag,
    summary: 'Deletes one dead letter.',
    parameters: letter,
    answers: { 204: answer('It is deleted.'), 404: notFound },
    scope: 'tenant',
  },
} as const satisfies Readonly<Record<string, Operation>>;
