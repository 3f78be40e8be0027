import type { OperationId } from '@apus/api';
import { problem } from '../publish/http.ts';
import type { Handle } from './context.ts';

/** Operations of the document that a deployment does not answer. */
const NOT_HERE = {
  listSubscriptions: 'A deployment has no list of all subscriptions: ask for those of one client.',
  listTopics: 'A deployment has no list of all topic filters: ask for the subscriptions of one client.',
  listBridges: 'The bridges of a deployment are in CloudWatch.',
  ...rules('listRules', 'listDeadLetters', 'sendDeadLetters', 'discardDeadLetters'),
  ...rules('getDeadLetter', 'sendDeadLetter', 'discardDeadLetter'),
  getMetrics: 'The metrics of a deployment are in CloudWatch.',
  getPrometheus: 'The metrics of a deployment are in CloudWatch.',
  getAsyncApi: 'A deployment describes no topics: `apus topics asyncapi` makes the document of a file.',
} as const satisfies Partial<Record<OperationId, string>>;

export type OperationElsewhere = keyof typeof NOT_HERE;

export const elsewhereHandlers = Object.fromEntries(
  Object.entries(NOT_HERE).map(([id, sentence]): [string, Handle] => [
    id,
    () => problem('NOT_SUPPORTED', sentence),
  ]),
) as Readonly<Record<OperationElsewhere, Handle>>;

function rules<Id extends OperationId>(...ids: readonly Id[]): Readonly<Record<Id, string>> {
  const sentence = 'The rules of a deployment have a function of their own: apus rule --stack NAME.';
  return Object.fromEntries(ids.map((id) => [id, sentence])) as Record<Id, string>;
}
