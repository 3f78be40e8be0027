import type { IConstruct } from 'constructs';
import { ApusBroker } from './apus-broker.ts';
import { emulatorEndpoint } from './emulated.ts';

/**
 * Lets the brokers of an app be deployed to an emulated AWS (`npm run emulated-aws`). Only addresses differ: those at
 * which the functions find the gateway, and `url`, `httpPublishUrl` and `httpApiUrl`. Everything else is the template
 * that AWS gets, without CodeDeploy.
 *
 * @param endpoint undefined: nothing changes. @default the address in AWS_ENDPOINT_URL, unless it is one of AWS
 * @example
 * pointAtEmulator(app);
 */
export function pointAtEmulator(scope: IConstruct, endpoint = emulatorEndpoint(process.env)): void {
  if (endpoint === undefined) return;
  for (const construct of scope.node.findAll())
    if (construct instanceof ApusBroker) construct.pointAtEmulator(endpoint);
}
