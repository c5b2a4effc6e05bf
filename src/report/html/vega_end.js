// The transforms that our charts use are known to the parser from here on.
Object.assign(modules['vega-dataflow'].transforms, modules['vega-transforms'],
  modules['vega-view-transforms'], modules['vega-encode'], modules['vega-hierarchy']);
return {
  parse: modules['vega-parser'].parse,
  View: modules['vega-view'].View,
  expressionInterpreter: modules['vega-interpreter'].expressionInterpreter,
};
})();
