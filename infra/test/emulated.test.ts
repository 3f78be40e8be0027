import { Match, Template } from 'aws-cdk-lib/assertions';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { App, CfnOutput, Stack } from 'aws-cdk-lib/core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ApusBroker, ApusStack, pointAtEmulator } from '../lib/index.ts';
import { LEAN, newOutdir, testContext } from './support/synth.ts';

const ENDPOINT = 'http://127.0.0.1:4566';
const PROPS = { httpPublish: 'iam', httpApi: 'iam', rollbackOnAlarm: true } as const;

afterEach(() => void vi.unstubAllEnvs());

const emptyApp = () => new App({ ...LEAN, context: testContext(), outdir: newOutdir() });

/** An app of one's own: a broker in a stack beside a backend that publishes. */
function ownApp(): { readonly app: App; readonly stack: Stack } {
  const app = emptyApp();
  const stack = new Stack(app, 'Shop');
  const broker = new ApusBroker(stack, 'Broker', PROPS);
  const runtime = Runtime.NODEJS_22_X;
  const backend = new LambdaFunction(stack, 'Backend', { runtime, handler: 'x', code: Code.fromInline('x') });
  backend.addEnvironment('APUS_URL', broker.httpPublishUrl);
  new CfnOutput(stack, 'Broker1', { value: broker.url });
  new CfnOutput(stack, 'Operators', { value: `${broker.httpApiUrl}api/v5/clients` });
  return { app, stack };
}

const join = (...parts: unknown[]) => ({ 'Fn::Join': ['', parts] });
const apiPath = (scheme: string) => [
  `${scheme}://127.0.0.1:4566/_aws/execute-api/`,
  { Ref: Match.anyValue() },
  '/mqtt',
];
const functionUrl = (path: string) =>
  join(`${ENDPOINT}/_aws/lambda-url/`, { 'Fn::Select': [0, Match.anyValue()] }, path);

describe('a CDK app that is deployed to an emulated AWS', () => {
  it('has addresses there, for its functions, its own backends and its outputs', () => {
    const { app, stack } = ownApp();
    pointAtEmulator(app, ENDPOINT);
    const template = Template.fromStack(stack);
    template.hasOutput('Broker1', { Value: join(...apiPath('ws')) });
    template.hasOutput('Operators', { Value: functionUrl('/api/v5/clients') });
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: { APUS_URL: functionUrl('/') } },
    });
    template.hasResourceProperties('AWS::Lambda::Function', {
      Description: 'Apus: handshakes and frames of clients',
      Environment: { Variables: { APUS_MANAGEMENT_ENDPOINT: join(...apiPath('http')) } },
    });
  });

  it('moves its aliases at once: the emulator has no CodeDeploy', () => {
    const { app, stack } = ownApp();
    expect(Template.fromStack(ownApp().stack).findResources('AWS::CodeDeploy::DeploymentGroup')).not.toEqual(
      {},
    );
    pointAtEmulator(app, ENDPOINT);
    const template = Template.fromStack(stack);
    expect(template.findResources('AWS::CodeDeploy::DeploymentGroup')).toEqual({});
    for (const alias of Object.values(template.findResources('AWS::Lambda::Alias')))
      expect(alias).not.toHaveProperty('UpdatePolicy');
  });

  it('is that of AWS_ENDPOINT_URL, and is left alone where that is AWS itself, or unset', () => {
    const urlOf = (endpoint: string | undefined) => {
      vi.stubEnv('AWS_ENDPOINT_URL', endpoint);
      const app = emptyApp();
      const stack = new ApusStack(app, 'Apus');
      pointAtEmulator(app);
      return JSON.stringify(Template.fromStack(stack).findOutputs('Url').Url?.Value);
    };
    expect(urlOf(`${ENDPOINT}/`)).toContain('ws://127.0.0.1:4566/_aws/execute-api/');
    for (const endpoint of [undefined, '', 'https://dynamodb.eu-west-1.amazonaws.com'])
      expect(urlOf(endpoint)).toContain('wss://');
  });
});
