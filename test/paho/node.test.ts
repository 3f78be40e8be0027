import { needsPaho } from './run-suite.ts';
import { describePaho } from './suites.ts';

describePaho('a node', 'tcp', needsPaho);
