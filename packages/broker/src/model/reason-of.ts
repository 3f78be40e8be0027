/** Errors within errors that are read. */
const DEPTH_MAX = 8;

/** Messages of `fetch`, and of a connection that was tried at several addresses. */
const SAYS_NOTHING = ['fetch failed', ''];

/**
 * Why something has failed: the message of an error, and behind it those of its innermost causes, as far as the message
 * does not have them.
 */
export function reasonOf(error: unknown): string {
  const message = messageOf(error);
  const causes = [...new Set(causesOf(error, DEPTH_MAX))].filter((cause) => !message.includes(cause));
  if (SAYS_NOTHING.includes(message)) return causes.join('; ') || String(error);
  return causes.length === 0 ? message : `${message.replace(/[.:]$/, '')}: ${causes.join('; ')}`;
}

function causesOf(error: unknown, depth: number): readonly string[] {
  const behind = depth === 0 ? [] : errorsIn(error);
  return behind.length === 0 ? [messageOf(error)] : behind.flatMap((each) => causesOf(each, depth - 1));
}

function errorsIn(error: unknown): readonly unknown[] {
  if (error instanceof AggregateError) return error.errors;
  return error instanceof Error && error.cause !== undefined ? [error.cause] : [];
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
