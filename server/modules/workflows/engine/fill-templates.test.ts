import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fillTemplates, TemplateError, type Scope } from './fill-templates.ts';

const SCOPE: Scope = {
  triggerData: {
    text: '你好',
    n: 42,
    list: [1, { a: 'b' }],
    nothing: null,
    'odd key': 'found',
    nested: '{{trigger.data.n}}',
  },
  results: new Map<string, unknown>([
    ['ask', 'an answer'],
    ['fetch', { status: 200, body: { items: ['x', 'y'] } }],
    ['a.b', 'dotted'],
    ['no', false],
  ]),
  nodeIds: new Set(['ask', 'fetch', 'a.b', 'no', 'later']),
};

/** What a text becomes; null where a TemplateError says why it cannot be filled. */
function filled(text: string): unknown {
  try {
    return fillTemplates(text, SCOPE);
  } catch (error) {
    if (error instanceof TemplateError) return null;
    throw error;
  }
}

test.each([
  ['plain text', 'plain text'],
  ['{{trigger.data.text}}', '你好'],
  ['{{ trigger.data.n }}', 42],
  ['n is {{trigger.data.n}}', 'n is 42'],
  ['{{trigger.data.list}}', [1, { a: 'b' }]],
  ['list: {{trigger.data.list}}', 'list: [1,{"a":"b"}]'],
  ['{{trigger.data.list[1].a}}', 'b'],
  ['{{trigger.data["odd key"]}}', 'found'],
  ['{{ask.result}}', 'an answer'],
  ['{{fetch.result.body.items[1]}} and {{fetch.result.status}}', 'y and 200'],
  ['{{a.b.result}}', 'dotted'],
  ['{{no.result}}', false],
  ['{{trigger.data.missing.deeper}}', null],
  ['[{{trigger.data.missing}}]', '[]'],
  ['{{trigger.data.nothing}}', null],
  ['{{trigger.data.list.length}}', null],
  [String.raw`\{{trigger.data.n}}`, '{{trigger.data.n}}'],
  ['{{trigger.data.nested}}!', '{{trigger.data.nested}}!'.replace('{{trigger.data.nested}}', '{{trigger.data.n}}')],
  ['{ {not} } {{', '{ {not} } {{'],
])('%s becomes %j', (text, value) => {
  expect(fillTemplates(text, SCOPE)).toEqual(value);
});

test('texts are filled wherever they stand, and keys are not', () => {
  const config = { a: ['{{ask.result}}', { '{{ask.result}}': '{{trigger.data.n}}' }], b: 1, c: null };
  expect(fillTemplates(config, SCOPE)).toEqual({ a: ['an answer', { '{{ask.result}}': 42 }], b: 1, c: null });
});

test.each([
  ['{{nobody.result}}', 'there is no step "nobody"'],
  ['x {{later.result}}', 'the step "later" has not run'],
  ['{{trigger}}', 'names nothing'],
  ['{{ask}}', 'names nothing'],
  ['{{ask.status}}', 'names nothing'],
  ['{{trigger.data..x}}', 'is not a path'],
  ['{{}}', 'names nothing'],
])('%s is refused by name', (text, message) => {
  expect(() => fillTemplates(text, SCOPE)).toThrow(TemplateError);
  expect(() => fillTemplates(text, SCOPE)).toThrow(message);
});

// Published ways out of the template and expression languages of n8n, Handlebars, Jinja2, EJS and others.
test.each([
  '{{trigger.data.constructor}}',
  '{{trigger.data.constructor.constructor("return process")()}}',
  '{{trigger.data.__proto__}}',
  '{{trigger.data.text.constructor}}',
  '{{fetch.result.constructor.name}}',
  '{{trigger.data.list.map}}',
  '{{(() => process.env)()}}',
  '{{$jmespath(this, "x")}}',
  '{{this.constructor.constructor("return process")().mainModule.require("child_process")}}',
  '{{7*7}}',
  '{{config.__class__.__init__.__globals__}}',
  '{{#with "s" as |string|}}{{/with}}',
  '{{trigger.data.toString}}',
  '{{trigger.data["__proto__"]["polluted"]}}',
])('%s reaches nothing', (text) => {
  const value = filled(text);
  expect(value === null || typeof value === 'string').toBe(true);
  expect(String(value)).not.toMatch(/function|native|object|49/);
});

test('any text gives a value or a TemplateError, and values never become templates', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('{{', '}}', 'trigger.data', '.', '[0]', '\\', 'ask.result', 'x', ' ', '"')),
      (parts) => {
        filled(parts.join(''));
      },
    ),
  );
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(fillTemplates('{{trigger.data.v}}', { ...SCOPE, triggerData: { v: value } })).toEqual(value);
    }),
  );
});
