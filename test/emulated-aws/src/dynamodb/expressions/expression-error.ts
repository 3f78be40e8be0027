/** The error of an expression, without its name: `Invalid ConditionExpression: ` is put before it. */
export class ExpressionError extends Error {
  override readonly name = 'ExpressionError';
}

export function syntaxError(token: string, near: string): ExpressionError {
  return new ExpressionError(`Syntax error; token: "${token}", near: "${near}"`);
}
