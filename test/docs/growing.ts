import ts from 'typescript';

/** Classes whose objects grow with what is put into them. A WeakMap goes with its keys. */
const GROWING = new Set(
  `Map Set Crowd DueHeap FairQueue Fifo FilterTree FlatQueue InflightWindow KnownPlaces LeakyCounts LevelTrie
  TopicTree TrieNode WaitingLine`.split(/\s+/),
);

const GROWING_TYPE = new RegExp(
  `^(?:(?:${[...GROWING].join('|')}|Array)\\b|[^|]*\\[\\](?: \\| undefined)?$)`,
);

/**
 * The names of the containers in a source that live longer than a call and may grow: fields of classes, constants of
 * the module, and variables that a function leaves to functions that it returns. Those that are declared as read-only,
 * and constants that are made with their content, do not grow.
 */
export function containersIn(path: string, text: string): readonly string[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertyDeclaration(node) && isGrowingField(node)) found.push(node.name.getText());
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && isGrowingVariable(node, node.name))
      found.push(node.name.text);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return [...new Set(found)];
}

function isGrowingField({ type, initializer }: ts.PropertyDeclaration): boolean {
  const typeText = type?.getText().replace(/\s+/g, ' ') ?? '';
  if (/^\(?(?:readonly |Readonly)/.test(typeText)) return false;
  if (GROWING_TYPE.test(typeText)) return true;
  return initializer !== undefined && makesContainer(initializer);
}

/** Whether a container is made in it: by itself, or in an object that is written there. */
function makesContainer(node: ts.Node): boolean {
  if (ts.isNewExpression(node)) return GROWING.has(node.expression.getText());
  if (ts.isArrayLiteralExpression(node)) return node.elements.length === 0;
  if (ts.isObjectLiteralExpression(node))
    return node.properties.some((each) => ts.isPropertyAssignment(each) && makesContainer(each.initializer));
  return false;
}

function isGrowingVariable({ initializer }: ts.VariableDeclaration, name: ts.Identifier): boolean {
  if (initializer === undefined || !ts.isNewExpression(initializer)) return false;
  // One with arguments that are no options has its content.
  const isMade = initializer.arguments?.some((each) => !ts.isObjectLiteralExpression(each)) === true;
  if (isMade || !makesContainer(initializer)) return false;
  const owner = functionOf(name);
  return ts.isSourceFile(owner) || isLeftBehind(owner, name);
}

/** Whether a function within the owner uses it that is not the argument of a call, as in `list.map(…)`. */
function isLeftBehind(owner: ts.Node, { text }: ts.Identifier): boolean {
  let isIt = false;
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) && node.text === text) {
      let inner = functionOf(node);
      while (inner !== owner && functionOf(inner) !== owner && !ts.isSourceFile(inner))
        inner = functionOf(inner);
      isIt ||= inner !== owner && !ts.isSourceFile(inner) && !ts.isCallExpression(inner.parent);
    }
    ts.forEachChild(node, visit);
  };
  visit(owner);
  return isIt;
}

function functionOf(node: ts.Node): ts.Node {
  let owner = node.parent;
  while (!ts.isFunctionLike(owner) && !ts.isSourceFile(owner)) owner = owner.parent;
  return owner;
}
