import { readUsageQuestion, UsageQuestionError } from '@apus/broker';
import { type ApiAnswer, badRequest } from './answer.ts';
import type { ApiContext } from './context.ts';
import type { ApiRequest, ApiRoute } from './router.ts';

/** The usage of each tenant. It is the operator's: the header that names a tenant does not count here. */
export function usageRoutes(context: ApiContext): readonly ApiRoute[] {
  return [{ method: 'GET', path: '/usage', handle: (request) => usage(context, request) }];
}

function usage({ usage: counted, clock }: ApiContext, { query }: ApiRequest): ApiAnswer {
  try {
    const question = readUsageQuestion(Object.fromEntries(query), clock.now());
    const { from, to, by } = question;
    return { status: 200, body: { data: counted.report(question), meta: { from, to, by } } };
  } catch (error) {
    if (error instanceof UsageQuestionError) return badRequest(error.message);
    throw error;
  }
}
