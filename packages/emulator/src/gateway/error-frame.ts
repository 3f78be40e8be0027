export type ErrorMessage =
  | 'Internal server error'
  | 'Endpoint request timed out'
  | 'Too Many Requests'
  | 'Forbidden';

/** The frame that API Gateway itself sends to a client, byte for byte: a space after the first colon only. */
export function errorFrame(message: ErrorMessage | string, connectionId: string, requestId: string): string {
  return `{"message": ${JSON.stringify(message)}, "connectionId":"${connectionId}", "requestId":"${requestId}"}`;
}
