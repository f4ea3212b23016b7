"""Texts that try to be something else: markup, formulas, commands, paths, letters that nobody sees."""

HTML = [
    "<script>alert(1)</script>", "<ScRiPt src=//evil.example/x.js></ScRiPt>", "<img src=x onerror=alert(1)>",
    "<svg onload=alert(1)>", "<svg><script>alert(1)</script></svg>", "<iframe src=javascript:alert(1)>",
    "<b>bold</b>", "<a href=javascript:alert(1)>x</a>", "<body onload=alert(1)>",
    "<math><mi xlink:href=data:x,alert(1)>", "&lt;b&gt;", "&#60;script&#62;", "</title><script>alert(1)</script>",
    "</style><script>alert(1)</script>", "</table><h1>out</h1>", "</caption><img src=x>",
    "</td></tr><tr><td>extra", "</svg><script>alert(1)</script>", "<!-- comment", "--><b>", "<![CDATA[x]]>", "]]>",
    "<?xml version='1.0'?>", "<!DOCTYPE html>", '<link rel=stylesheet href="//evil.example">',
    '<meta http-equiv="refresh" content="0;url=//evil.example">', '<base href="//evil.example/">', "<form><input>",
    '" onmouseover="alert(1)', "' onmouseover='alert(1)", "`onmouseover=alert(1)`", "javascript:alert(1)",
    "<foreignObject><p>x</p></foreignObject>", "<use href=#x />", "<image href='http://evil.example/a.png'/>",
    "<style>@import '//evil.example/x.css'</style>", "url(//evil.example/x)", "url(#picture-x)",
    "expression(alert(1))", "{{ 7*7 }}", "{% load x %}", "{% include 'base.html' %}", "${7*7}", "#{7*7}",
    "<%= 7*7 %>", "{{constructor}}", "<template><script>1</script></template>", "<noscript><img src=x></noscript>",
    "<plaintext>", "<bdo dir=rtl>abc</bdo>",
]  # fmt: skip
LATEX = [
    "\\input{/etc/passwd}", "\\write18{touch /tmp/x}", "\\immediate\\write18{id}", "\\end{tabular}\\bye",
    "\\def\\a{\\a}\\a", "\\catcode`\\%=12", "100 % of it", "a & b & c", "a \\\\ b", "$x^2$", "$$", "a_b^c",
    "~tilde~", "{", "}", "}{", "{}}", "#1", "\\\\", "\\", "\\verb|x|", "\\begin{document}", "\\end{document}",
    "^^M", "^^5cinput", "[3pt] after", "*", "[", "]", "\\newcommand{\\x}{}", "\\usepackage{evil}",
    "\\csname input\\endcsname", "\\loop\\repeat", "---", "``x''", "'x'", '"x"', "<<x>>", "|", "\\hline",
    "\\multicolumn{9}{l}{x}", "\\cite{x}", "[@hovy2013]", "% comment",
]  # fmt: skip
CELLS = [
    "=1+1", "=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1+1", "\r=1+1", '=HYPERLINK("http://evil.example")',
    '=WEBSERVICE("http://evil.example")', "-2+3+cmd|' /C calc'!D2", "a,b", 'a"b', "a\nb", "a\r\nb", "a;b", "'=1",
    " =1+1", "=",
]  # fmt: skip
TYPST = [
    '#import "@preview/evil:1.0.0": *', '#read("/etc/passwd")', "#sys.inputs", '#eval("1")', "*bold*", "_it_",
    "= Title", "- list", "+ enum", "/ term: x", "@label", "<label>", "`raw`", "$ x $", "// comment", "/* open",
    "\\u{0041}", "#let x = 1", "#panic()", "\\",
]  # fmt: skip
LETTERS = [
    "\u202eevil", "\u2066x\u2069", "\u200bx", "a\xadb", "\ufeffx", "x́̂̃", "\u2028x", "\u2029x", "\x07bell",
    "\x1b[31mred", "\x7f", "\ue000", "\U000e0041tag", "Ａ", "日本語", "中文", "한국어", "שלום", "مرحبا", "हिन्दी", "ไทย",
    "😀", "\U0001f469\u200d\U0001f469\u200d\U0001f467", "🇩🇪", "ﬁ", "ß", "İ", "Ⅳ", "∑", "𝔘", "�", "A" * 300,
    "word " * 60, "", " ", ".", "..", "../../etc/passwd", "C:\\x", "NaN", "null", "None", "true", "0", "-0",
    "1e309", "\uffff",
]  # fmt: skip
ALL = [*HTML, *LATEX, *CELLS, *TYPST, *LETTERS]
