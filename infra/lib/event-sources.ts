import { EventSourceMapping } from 'aws-cdk-lib/aws-lambda';
import type { BrokerFunction } from './broker-function.ts';

/** The mappings that call a function. */
export function eventSourcesOf(lambda: BrokerFunction): readonly EventSourceMapping[] {
  return lambda.node.findAll().filter((each) => each instanceof EventSourceMapping);
}
