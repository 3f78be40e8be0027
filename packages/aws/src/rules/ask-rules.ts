import { functionSender } from '../fan-out/invoke-function.ts';
import type { AwsCredentials } from '../http/sigv4.ts';
import type { AskRules, RulesAnswer } from './rules-request.ts';

/** An answer of Lambda: it has no larger ones. */
const ANSWER_BYTES_MAX = 6 * 1024 * 1024;

export interface RulesFunctionOptions {
  readonly functionArn: string;
  readonly credentials: AwsCredentials;
  /** Where Lambda is, instead of AWS. */
  readonly endpoint: string | undefined;
  readonly now: () => number;
}

/** Asks the function of rules by an invocation. @throws {Error} if the ARN is not of a function */
export function askRulesFunction(options: RulesFunctionOptions): AskRules {
  const sender = functionSender({ ...options, answerBytesMax: ANSWER_BYTES_MAX });
  return async (request, signal) => {
    const sent = { method: 'POST', url: '', headers: {}, body: JSON.stringify(request) } as const;
    const { body } = await sender.send(sent, signal);
    return JSON.parse(body) as RulesAnswer;
  };
}
