import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished, vi } from 'vitest';

export interface OperatedStack {
  readonly stack: string;
  readonly functionName: string;
  /** The function's answer to an event; an error makes it fail. */
  readonly answer: (event: Readonly<Record<string, unknown>>) => object | Error | Promise<object>;
  /** The secret that Secrets Manager holds under `TOKEN_SECRET_ARN`, which is an output of the stack. */
  secret?: string;
}

export const TOKEN_SECRET_ARN = 'arn:aws:secretsmanager:eu-west-1:1:secret:token-a1';

/**
 * Stands in for CloudFormation, Lambda and Secrets Manager for an operator of a deployment: signed requests (the query
 * protocol with XML; REST; JSON), one stack, one function, one secret. The SDK finds them until the test ends.
 */
export async function startOperatorServices(operated: OperatedStack): Promise<void> {
  const server = createServer((request, response) => void answer(operated, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    vi.unstubAllEnvs();
  });
  for (const [name, value] of Object.entries({
    AWS_ENDPOINT_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'AKIA',
    AWS_SECRET_ACCESS_KEY: 'secret',
    AWS_CONFIG_FILE: '/nonexistent',
    AWS_SHARED_CREDENTIALS_FILE: '/nonexistent',
  }))
    vi.stubEnv(name, value);
}

async function answer(
  operated: OperatedStack,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { authorization = '' } = request.headers;
  const [, service] = /Credential=[^/]+\/\d{8}\/eu-west-1\/(\w+)\/aws4_request/.exec(authorization) ?? [];
  const body = await text(request);
  if (service === 'cloudformation') describe(operated, new URLSearchParams(body), response);
  else if (service === 'lambda') await invoke(operated, request.url ?? '', body, response);
  else if (service === 'secretsmanager') answerSecret(operated, request, JSON.parse(body), response);
  else response.writeHead(403).end();
}

function answerSecret(
  operated: OperatedStack,
  { headers }: IncomingMessage,
  { SecretId, SecretString }: Readonly<Record<string, string>>,
  response: ServerResponse,
): void {
  response.setHeader('content-type', 'application/x-amz-json-1.1');
  if (SecretId !== TOKEN_SECRET_ARN || operated.secret === undefined) {
    const message = "Secrets Manager can't find the specified secret.";
    response.writeHead(400).end(JSON.stringify({ __type: 'ResourceNotFoundException', message }));
    return;
  }
  if (headers['x-amz-target'] === 'secretsmanager.PutSecretValue' && SecretString !== undefined)
    operated.secret = SecretString;
  response.end(JSON.stringify({ ARN: SecretId, SecretString: operated.secret }));
}

function describe(
  { stack, functionName }: OperatedStack,
  asked: URLSearchParams,
  response: ServerResponse,
): void {
  const namespace = 'xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"';
  response.setHeader('content-type', 'text/xml');
  if (asked.get('Action') !== 'DescribeStacks' || asked.get('StackName') !== stack) {
    const message = `Stack with id ${asked.get('StackName')} does not exist`;
    const error = `<Error><Type>Sender</Type><Code>ValidationError</Code><Message>${message}</Message></Error>`;
    response.writeHead(400).end(`<ErrorResponse ${namespace}>${error}</ErrorResponse>`);
    return;
  }
  const outputs = Object.entries({
    OperatorName: functionName,
    RulesName: functionName,
    TokenSecretArn: TOKEN_SECRET_ARN,
  })
    .map(([name, value]) => `<OutputKey>${name}</OutputKey><OutputValue>${value}</OutputValue>`)
    .map((output) => `<member>${output}</member>`);
  const member = `<member><StackName>${stack}</StackName><Outputs>${outputs.join('')}</Outputs></member>`;
  const result = `<DescribeStacksResult><Stacks>${member}</Stacks></DescribeStacksResult>`;
  response.end(`<DescribeStacksResponse ${namespace}>${result}</DescribeStacksResponse>`);
}

async function invoke(
  operated: OperatedStack,
  url: string,
  body: string,
  response: ServerResponse,
): Promise<void> {
  response.setHeader('content-type', 'application/json');
  if (url !== `/2015-03-31/functions/${operated.functionName}/invocations`) {
    response.setHeader('x-amzn-errortype', 'ResourceNotFoundException');
    response.writeHead(404).end(JSON.stringify({ Message: `Function not found: ${url}` }));
    return;
  }
  const answered = await operated.answer(JSON.parse(body));
  if (answered instanceof Error) response.setHeader('x-amz-function-error', 'Unhandled');
  response.end(JSON.stringify(answered instanceof Error ? { errorMessage: answered.message } : answered));
}
