import type { HttpAnswer, HttpRequest } from '@apus/door';

/** The event of a function with a URL (payload format 2.0), as far as it is read. */
export interface FunctionUrlEvent {
  readonly rawPath: string;
  readonly rawQueryString?: string;
  /** Names in lower case; several values of one joined by commas. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | null;
  readonly isBase64Encoded?: boolean;
  readonly requestContext: {
    readonly http: { readonly method: string; readonly sourceIp?: string };
    /** With the auth type AWS_IAM: the caller whose signature was checked. */
    readonly authorizer?: { readonly iam?: { readonly userArn?: string | null } | null } | null;
  };
}

export interface FunctionUrlResult {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export function requestOf(event: FunctionUrlEvent): HttpRequest {
  const { rawPath, rawQueryString, headers = {}, body, isBase64Encoded = false, requestContext } = event;
  let decoded: Buffer | undefined;
  return {
    method: requestContext.http.method,
    path: rawPath,
    query: rawQueryString ?? '',
    headers,
    // Up to 6 MB, which are not decoded for a request that is refused for its key.
    get body() {
      decoded ??= Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');
      return decoded;
    },
    address: requestContext.http.sourceIp ?? '',
    caller: requestContext.authorizer?.iam?.userArn ?? undefined,
  };
}

export function resultOf({ status, headers, body }: HttpAnswer): FunctionUrlResult {
  return { statusCode: status, headers, body };
}
