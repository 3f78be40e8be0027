/** An answer of `/api/v5`. */
export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export async function call(
  httpUrl: string,
  path: string,
  method = 'GET',
  headers: Readonly<Record<string, string>> = {},
  sent?: object,
): Promise<Answer> {
  const response = await fetch(new URL(`/api/v5${path}`, httpUrl), {
    ...{ method, headers },
    ...(sent !== undefined && { body: JSON.stringify(sent) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}
