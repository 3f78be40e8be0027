import { type AuthPacket, type ConnectPacket, ReasonCode, Violation } from '@apus/mqtt';
import type { Context } from '../context.ts';
import { disconnect, violate } from '../ending/disconnect.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import { type Connection, type Link, type LinkState, namesOf } from '../model/link.ts';
import type { AuthenticationStep, Credentials } from '../ports/index.ts';
import { maximumPacketSizeOf, reply, tooLarge } from '../reply.ts';
import { admit } from './admit.ts';
import { credentialsOf, refuse } from './refuse.ts';
import { drainRenewed, renew } from './renew.ts';

type Authenticating = Extract<LinkState, { phase: 'authenticating' }>;
type Connected = Extract<LinkState, { phase: 'connected' }>;

/** CONNECT with an Authentication Method (section 4.12). */
export function* beginAuthentication(
  context: Context,
  link: Link,
  connect: ConnectPacket,
  methodName: string,
): Flow<void> {
  const method = context.ports.authenticationMethods.get(methodName);
  if (method === undefined) {
    // [MQTT-4.12.0-1]
    const reason = `the authentication method ${JSON.stringify(methodName)} is not known here`;
    return refuse(context, link, connect, new Violation(ReasonCode.BadAuthenticationMethod, reason));
  }
  const { authenticationData } = connect.properties;
  const step = yield* waitFor(method.begin(authenticationData, credentialsOf(link, connect)));
  yield* takeStep(context, link, { phase: 'authenticating', connect, methodState: undefined }, step);
}

/** AUTH while CONNECT waits for its CONNACK: the exchange goes on [MQTT-4.12.0-4]. */
export function* continueAuthentication(
  context: Context,
  link: Link,
  state: Authenticating,
  packet: AuthPacket,
): Flow<void> {
  const methodName = state.connect.properties.authenticationMethod;
  const invalid = violationOf(packet, methodName, ReasonCode.ContinueAuthentication);
  if (invalid !== undefined) return yield* violate(context, link, invalid);
  const method = context.ports.authenticationMethods.get(methodName ?? '');
  if (method === undefined) return yield* violate(context, link, withdrawn());
  const step = yield* waitFor(method.continue(packet.properties.authenticationData, state.methodState));
  yield* takeStep(context, link, state, step);
}

function* takeStep(
  context: Context,
  link: Link,
  state: Authenticating,
  step: AuthenticationStep,
): Flow<void> {
  const { connect } = state;
  switch (step.outcome) {
    case 'continue': {
      const { protocolVersion, properties } = connect;
      const auth = authPacket(ReasonCode.ContinueAuthentication, properties.authenticationMethod, step.data);
      const maximumPacketSize = maximumPacketSizeOf(connect);
      const unanswerable = tooLarge(auth, { protocolVersion, maximumPacketSize });
      if (unanswerable !== undefined) return refuse(context, link, connect, unanswerable);
      link.state = { ...state, methodState: step.state };
      // [MQTT-4.12.0-2] [MQTT-4.12.0-5]
      return link.send(auth, protocolVersion);
    }
    case 'success':
      return yield* admit(context, link, {
        packet: connect,
        identity: step.identity,
        authenticationData: step.data,
      });
    case 'failure':
      // [MQTT-4.12.0-4]
      return refuse(context, link, connect, new Violation(step.refused, step.reason));
  }
}

/** AUTH on an accepted connection: the client begins to re-authenticate, or goes on with it (section 4.12.1). */
export function* reauthenticate(
  context: Context,
  link: Link,
  state: Connected,
  packet: AuthPacket,
): Flow<void> {
  const { connection, reauthentication } = state;
  const expected =
    reauthentication === undefined ? ReasonCode.ReAuthenticate : ReasonCode.ContinueAuthentication;
  const invalid = violationOf(packet, connection.authenticationMethod, expected);
  if (invalid !== undefined) return yield* violate(context, link, invalid);
  const method = context.ports.authenticationMethods.get(connection.authenticationMethod ?? '');
  if (method === undefined) return yield* violate(context, link, withdrawn());
  const data = packet.properties.authenticationData;
  const step = yield* waitFor(
    reauthentication === undefined
      ? method.begin(data, reauthenticationCredentials(link, connection))
      : method.continue(data, reauthentication.methodState),
  );
  yield* takeReauthenticationStep(context, link, state, step);
}

function* takeReauthenticationStep(
  context: Context,
  link: Link,
  state: Connected,
  step: AuthenticationStep,
): Flow<void> {
  const { connection } = state;
  if (step.outcome === 'failure')
    return yield* refuseRenewal(context, link, new Violation(step.refused, step.reason));
  const isDone = step.outcome === 'success';
  const code = isDone ? ReasonCode.Success : ReasonCode.ContinueAuthentication;
  const auth = authPacket(code, connection.authenticationMethod, step.data);
  const refusal =
    tooLarge(auth, connection) ?? (isDone ? yield* renew(context, link, step.identity) : undefined);
  if (refusal !== undefined) return yield* refuseRenewal(context, link, refusal);
  if (step.outcome === 'continue') link.state = { ...state, reauthentication: { methodState: step.state } };
  reply(link, connection, auth);
  if (isDone) yield* drainRenewed(context, link);
}

/** [MQTT-4.12.1-2] */
function* refuseRenewal(context: Context, link: Link, { reasonCode, reason }: Violation): Flow<void> {
  context.ports.log.warn('renewal-refused', {
    ...namesOf(link),
    reasonCode,
    reason,
  });
  return yield* disconnect(context, link, reasonCode, reason);
}

/**
 * The method has to be CONNECT's [MQTT-4.12.0-5] [MQTT-4.12.1-1]; without one the client may send no AUTH
 * [MQTT-4.12.0-6].
 */
function violationOf(
  packet: AuthPacket,
  method: string | undefined,
  expected: number,
): Violation | undefined {
  if (method === undefined) {
    return new Violation(ReasonCode.ProtocolError, 'AUTH needs an Authentication Method in CONNECT');
  }
  if (packet.properties.authenticationMethod !== method) {
    return new Violation(
      ReasonCode.ProtocolError,
      `the Authentication Method of this connection is ${method}`,
    );
  }
  if (packet.reasonCode !== expected) {
    return new Violation(ReasonCode.ProtocolError, `expected AUTH with reason code ${expected}`);
  }
  return undefined;
}

function withdrawn(): Violation {
  return new Violation(
    ReasonCode.BadAuthenticationMethod,
    'the authentication method is not known here any more',
  );
}

/**
 * Leaves out the identity that the handshake has shown: to re-authenticate, the client needs another proof
 * [SEC-EXPIRY-5].
 */
function reauthenticationCredentials({ peer }: Link, { session }: Connection): Credentials {
  const { identity: _shown, ...address } = peer;
  return { clientId: session.clientId, username: undefined, password: undefined, peer: address };
}

function authPacket(
  reasonCode: number,
  method: string | undefined,
  data: Uint8Array | undefined,
): AuthPacket {
  return {
    type: 'auth',
    reasonCode,
    properties: {
      ...(method !== undefined && { authenticationMethod: method }),
      ...(data !== undefined && { authenticationData: data }),
    },
  };
}
