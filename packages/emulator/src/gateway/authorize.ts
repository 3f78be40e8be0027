import { isObject } from '../lambda/proxy-result.ts';
import { authorizeByIam } from '../signature/authorize-by-iam.ts';
import type { Connection } from './connection.ts';
import { authorizerEvent } from './event-builder.ts';
import type { AuthorizerContext, CallerIdentity, Handshake } from './events.ts';
import { type Gateway, withinIntegrationTimeout } from './gateway.ts';
import { allows } from './policy.ts';
import type { UpgradeRequest } from './read-handshake.ts';

export type Authorization =
  | {
      readonly status: 200;
      readonly context: AuthorizerContext | undefined;
      /** The signer, where the route asks for AWS_IAM. */
      readonly caller?: CallerIdentity;
    }
  | { readonly status: 401 | 403 | 500; readonly error?: Error };

const UNAUTHORIZED = 'Unauthorized';

/**
 * Checks the signature if the route asks for one, or asks the REQUEST authorizer, if there is one. For a WebSocket API
 * its answer is never cached.
 */
export async function authorize(
  gateway: Gateway,
  connection: Connection,
  handshake: Handshake,
  request: UpgradeRequest,
): Promise<Authorization> {
  const { authorizer, settings } = gateway;
  if (settings.iamCallers !== undefined) {
    const caller = authorizeByIam(gateway, settings.iamCallers, request);
    return caller === undefined ? { status: 403 } : { status: 200, context: undefined, caller };
  }
  if (authorizer === undefined) return { status: 200, context: undefined };
  if (!hasIdentity(handshake, settings.authorizer?.identitySources ?? [])) return { status: 401 };
  const startedAtMs = settings.clock.now();
  const event = authorizerEvent(gateway, connection, handshake);
  const invocation = authorizer.invoke('authorizer', (handlers) => handlers.authorize, event);
  const outcome = await withinIntegrationTimeout(gateway, invocation);
  if (outcome === undefined) return { status: 500, error: new Error('The authorizer timed out') };
  if (outcome.kind === 'failed') {
    // API Gateway treats this one text differently from every other error.
    return { status: outcome.error.message === UNAUTHORIZED ? 401 : 500, error: outcome.error };
  }
  const answer = outcome.value;
  const bytes = Buffer.byteLength(JSON.stringify(answer));
  if (bytes > settings.limits.authorizerResultBytesMax) {
    return { status: 500, error: new Error(`The authorizer's result has ${bytes} bytes`) };
  }
  if (!isObject(answer) || typeof answer.principalId !== 'string') {
    return { status: 500, error: new Error('The authorizer must return principalId and policyDocument') };
  }
  if (!allows(answer.policyDocument, event.methodArn)) return { status: 403 };
  return { status: 200, context: contextOf(answer, settings.clock.now() - startedAtMs) };
}

function contextOf(answer: Record<string, unknown>, integrationLatency: number): AuthorizerContext {
  const context = isObject(answer.context) ? answer.context : {};
  const texts = Object.entries(context).map(([name, value]) => [name, String(value)]);
  return { ...Object.fromEntries(texts), principalId: String(answer.principalId), integrationLatency };
}

function hasIdentity(handshake: Handshake, sources: readonly string[]): boolean {
  const headerNames = new Set(Object.keys(handshake.headers).map((name) => name.toLowerCase()));
  return sources.every((source) => {
    const name = source.slice(source.lastIndexOf('.') + 1);
    if (source.startsWith('route.request.header.')) return headerNames.has(name.toLowerCase());
    return Object.hasOwn(handshake.queryStringParameters ?? {}, name);
  });
}
