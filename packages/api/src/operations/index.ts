import type { Operation } from '../operation.ts';
import { boundOperations } from './bounds.ts';
import { clientOperations } from './clients.ts';
import { messageOperations } from './messages.ts';
import { observingOperations } from './observing.ts';
import { operatorOperations } from './operator.ts';
import { systemOperations } from './systems.ts';
import { userOperations } from './users.ts';

const operations = {
  ...clientOperations,
  ...messageOperations,
  ...systemOperations,
  ...boundOperations,
  ...operatorOperations,
  ...userOperations,
  ...observingOperations,
} as const;

export type OperationId = keyof typeof operations;

/** All operations of the HTTP API. A door has a handler for each. */
export const OPERATIONS: Readonly<Record<OperationId, Operation>> = operations;

export const OPERATION_IDS = Object.keys(operations) as readonly OperationId[];
