import { readUsageQuestion, UsageQuestionError } from '@apus/broker';
import { type ApiAnswer, badRequest } from './answer.ts';
import type { ApiContext } from './context.ts';
import type { ApiRequest, Handlers } from './router.ts';

/** The usage of each tenant. It belongs to the operator, so the header that names a tenant does not count here. */
export function usageHandlers(context: ApiContext) {
  return { getUsage: (request) => usage(context, request) } satisfies Partial<Handlers>;
}

async function usage({ usage: counted, clock }: ApiContext, { query }: ApiRequest): Promise<ApiAnswer> {
  try {
    const question = readUsageQuestion(Object.fromEntries(query), clock.now());
    const { from, to, by } = question;
    return { status: 200, body: { data: await counted.report(question), meta: { from, to, by } } };
  } catch (error) {
    if (error instanceof UsageQuestionError) return badRequest(error.message);
    throw error;
  }
}
