import { isObject } from '../lambda/proxy-result.ts';

const INVOKE = 'execute-api:Invoke';

/** Whether an IAM policy document allows `execute-api:Invoke` on a resource: a Deny outweighs every Allow. */
export function allows(policyDocument: unknown, resourceArn: string): boolean {
  if (!isObject(policyDocument) || !Array.isArray(policyDocument.Statement)) return false;
  const effects = policyDocument.Statement.filter(
    (statement: unknown) =>
      isObject(statement) && matches(statement.Action, INVOKE) && matches(statement.Resource, resourceArn),
  ).map((statement: { Effect?: unknown }) => statement.Effect);
  return effects.includes('Allow') && !effects.includes('Deny');
}

/** `*` stands for any characters, `?` for one. */
function matches(patterns: unknown, text: string): boolean {
  const list: unknown[] = Array.isArray(patterns) ? patterns : [patterns];
  return list.some((pattern) => typeof pattern === 'string' && toRegExp(pattern).test(text));
}

function toRegExp(pattern: string): RegExp {
  const escaped = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`, 'i');
}
