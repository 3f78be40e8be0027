import { ALIVE_ROUTE } from '@apus/aws/lambda';
import {
  type IAccessLogSettings,
  LogGroupLogDestination,
  WebSocketApi,
  WebSocketRoute,
  WebSocketStage,
} from 'aws-cdk-lib/aws-apigatewayv2';
import { WebSocketIamAuthorizer } from 'aws-cdk-lib/aws-apigatewayv2-authorizers';
import {
  WebSocketLambdaIntegration,
  WebSocketMockIntegration,
} from 'aws-cdk-lib/aws-apigatewayv2-integrations';
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import { Arn, ArnFormat, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { createAccessLogs } from './access-logs.ts';
import { acknowledge, acknowledgeWildcard } from './acknowledge.ts';
import type { BrokerFunction } from './broker-function.ts';
import { FRAMES_PER_SECOND, STAGE_NAME } from './defaults.ts';
import { createDomain } from './domain.ts';
import type { AccessLogProps, DomainProps, ThrottleProps } from './props.ts';

/** The operations of @connections on a connection. */
export type ConnectionVerb = 'POST' | 'DELETE' | 'GET';

export interface StageProps {
  readonly throttle: ThrottleProps;
  readonly accessLogs: AccessLogProps | undefined;
  readonly domain: DomainProps | undefined;
  readonly logKey: IKey | undefined;
}

/** The WebSocket API without its routes: the functions need its address before they can be created. */
export class GatewayApi {
  readonly api: WebSocketApi;
  readonly #scope: Construct;
  readonly #managementEndpoint: string;

  constructor(scope: Construct) {
    this.#scope = scope;
    // A frame of text that is no JSON goes to $default; JSON selects its route by the property `action`.
    this.api = new WebSocketApi(scope, 'Api', {
      // The name: in a list of all APIs of an account each broker is found by its stack.
      apiName: `${Stack.of(scope).stackName}-mqtt`,
      description: 'Apus: MQTT over WebSocket',
    });
    const { region, urlSuffix } = Stack.of(scope);
    this.#managementEndpoint = `https://${this.api.apiId}.execute-api.${region}.${urlSuffix}/${STAGE_NAME}`;
  }

  /** The URL of @connections. It is never the custom domain, which has other paths. */
  get managementEndpoint(): string {
    return this.#managementEndpoint;
  }

  /**
   * `$connect` and `$default` share one function: one pool of warm environments, so a reconnection finds one of them.
   * With `iam` API Gateway itself asks for a signature at `$connect`.
   */
  route(gateway: IFunction, disconnect: IFunction, iam: boolean): void {
    this.#addRoute('$connect', gateway, { iam });
    this.#addRoute('$default', gateway, { returnResponse: true });
    this.#addRoute('$disconnect', disconnect);
  }

  /**
   * A client's sign of life costs a message, and no function and no answer: without a route response, one-way, "no
   * response will be returned over the WebSocket channel" (developer guide, "Set up WebSocket API integration responses").
   */
  routeSignsOfLife(): void {
    const route = new WebSocketRoute(this.#scope, `${ALIVE_ROUTE}-route`, {
      webSocketApi: this.api,
      routeKey: ALIVE_ROUTE,
      integration: new WebSocketMockIntegration('Integration', {
        requestTemplates: { $default: JSON.stringify({ statusCode: 200 }) },
        templateSelectionExpression: '\\$default',
      }),
    });
    acknowledgeOpenRoute(route);
  }

  #addRoute(
    routeKey: string,
    handler: IFunction,
    { returnResponse = false, iam = false }: { returnResponse?: boolean; iam?: boolean } = {},
  ): void {
    const id = `${routeKey.slice(1)}-route`;
    const route = new WebSocketRoute(this.#scope, id, {
      webSocketApi: this.api,
      routeKey,
      integration: new WebSocketLambdaIntegration('Integration', handler),
      returnResponse,
      ...(iam && { authorizer: new WebSocketIamAuthorizer() }),
    });
    if (!iam) acknowledgeOpenRoute(route);
  }

  /** Grants the signing of handshakes, if signatures are required. */
  grantConnect(grantee: IGrantable): Grant {
    const parts = {
      service: 'execute-api',
      resource: this.api.apiId,
      resourceName: `${STAGE_NAME}/$connect`,
      arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
    };
    const resourceArns = [Arn.format(parts, Stack.of(this.#scope))];
    return Grant.addToPrincipal({ grantee, actions: ['execute-api:Invoke'], resourceArns });
  }

  createStage(props: StageProps): GatewayStage {
    return new GatewayStage(this.#scope, this.api, props);
  }

  /** Grants posts to the connections of this API's stage, and of no other. */
  grantConnections(lambda: BrokerFunction, verbs: readonly ConnectionVerb[]): void {
    const resourceArns = verbs.map((verb) => this.#connectionsArn(verb));
    Grant.addToPrincipal({ grantee: lambda, actions: ['execute-api:ManageConnections'], resourceArns });
    for (const arn of resourceArns) {
      acknowledgeWildcard(
        lambda.ownRole,
        arn,
        'It stands for connections, whose ids are not known beforehand.',
      );
    }
  }

  #connectionsArn(verb: ConnectionVerb): string {
    const parts = {
      service: 'execute-api',
      resource: this.api.apiId,
      resourceName: `${STAGE_NAME}/${verb}/@connections/*`,
      arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
    };
    return Arn.format(parts, Stack.of(this.#scope));
  }
}

/** The stage: throttles, logs, and the address that clients use. */
export class GatewayStage {
  readonly stage: WebSocketStage;
  readonly framesPerSecond: number;
  readonly burstFrames: number;
  /** `wss://…/mqtt` */
  readonly url: string;
  /** The target for the DNS record of a custom domain; undefined without one. */
  readonly domainTarget: string | undefined;
  /** The id in the form of API Gateway's own API: without an account. */
  readonly arn: string;

  constructor(scope: Construct, api: WebSocketApi, { throttle, accessLogs, domain, logKey }: StageProps) {
    this.framesPerSecond = throttle.framesPerSecond ?? FRAMES_PER_SECOND;
    this.burstFrames = throttle.burstFrames ?? this.framesPerSecond * 2;
    const domainName = domain === undefined ? undefined : createDomain(scope, domain);
    this.stage = new WebSocketStage(scope, 'Stage', {
      webSocketApi: api,
      stageName: STAGE_NAME,
      autoDeploy: true,
      throttle: { rateLimit: this.framesPerSecond, burstLimit: this.burstFrames },
      ...(accessLogs !== undefined && { accessLogSettings: accessLogSettings(scope, accessLogs, logKey) }),
      ...(domainName !== undefined && { domainMapping: { domainName, mappingKey: STAGE_NAME } }),
    });
    this.url = domain === undefined ? this.stage.url : `wss://${domain.domainName}/${STAGE_NAME}`;
    this.domainTarget = domainName?.regionalDomainName;
    const parts = { service: 'apigateway', account: '', arnFormat: ArnFormat.NO_RESOURCE_NAME };
    const resource = `/apis/${api.apiId}/stages/${this.stage.stageName}`;
    this.arn = Arn.format({ ...parts, resource }, Stack.of(scope));
    if (accessLogs === undefined) acknowledgeMissingLogs(this.stage);
  }
}

function acknowledgeOpenRoute(route: WebSocketRoute): void {
  acknowledge(
    route,
    'AwsSolutions-APIG4',
    'Only $connect can have an authorizer. Its function checks the token of the handshake itself: an authorizer would be a second invocation, and a second cold start, for each connection.',
  );
}

function acknowledgeMissingLogs(stage: WebSocketStage): void {
  const reason =
    'Access logs are a prop, off by default: a line for each frame costs half as much as the frame.';
  acknowledge(stage, 'AwsSolutions-APIG1', reason);
  acknowledge(stage, 'Serverless-APIGWAccessLogging', reason);
}

function accessLogSettings(
  scope: Construct,
  props: AccessLogProps,
  key: IKey | undefined,
): IAccessLogSettings {
  const { logGroup, format } = createAccessLogs(scope, props, key);
  return { destination: new LogGroupLogDestination(logGroup), format };
}
