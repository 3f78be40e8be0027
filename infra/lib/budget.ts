import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import type { Construct } from 'constructs';
import type { BudgetProps } from './props.ts';

/** The tag of everything that belongs to a broker; its value is the construct's path. */
export const BROKER_TAG = 'apus:broker';
const SPENT_PERCENT = 80;
const FORECAST_PERCENT = 100;

/** Creates a monthly budget for the costs with the broker's tag. */
export function createBudget(scope: Construct, { dollarsPerMonth, email }: BudgetProps): void {
  new CfnBudget(scope, 'Budget', {
    budget: {
      budgetType: 'COST',
      timeUnit: 'MONTHLY',
      budgetLimit: { amount: dollarsPerMonth, unit: 'USD' },
      costFilters: { TagKeyValue: [`user:${BROKER_TAG}$${scope.node.path}`] },
    },
    notificationsWithSubscribers: [
      notification('ACTUAL', SPENT_PERCENT, email),
      notification('FORECASTED', FORECAST_PERCENT, email),
    ],
  });
}

function notification(
  notificationType: 'ACTUAL' | 'FORECASTED',
  threshold: number,
  address: string,
): CfnBudget.NotificationWithSubscribersProperty {
  return {
    notification: {
      notificationType,
      threshold,
      thresholdType: 'PERCENTAGE',
      comparisonOperator: 'GREATER_THAN',
    },
    subscribers: [{ subscriptionType: 'EMAIL', address }],
  };
}
