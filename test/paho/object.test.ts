import { needsWorkerd } from '@apus/cloudflare/testing';
import { needsAll } from '../support/skips.ts';
import { needsPaho } from './run-suite.ts';
import { describePaho } from './suites.ts';

describePaho('an object', 'object', needsAll(needsPaho, needsWorkerd));
