//! Which language a text is in.

use rsan_lang::Format;

#[test]
fn the_extension_decides() {
    assert_eq!(Format::detect("a/b.litmus", ""), Some(Format::CLitmus));
    assert_eq!(Format::detect("b.tpl", "C x"), Some(Format::Tpl));
    assert_eq!(Format::detect("b.mini", ""), Some(Format::Mini));
}

#[test]
fn without_a_known_extension_the_text_decides() {
    for (text, format) in [
        ("C MP+rel\n{}", Some(Format::CLitmus)),
        ("(* doc *)\n  C x\n", Some(Format::CLitmus)),
        ("// c\nmax_value 3;", Some(Format::Tpl)),
        ("global x;", Some(Format::Tpl)),
        ("fn f { skip; }", Some(Format::Tpl)),
        ("st.rlx x 1 || ld.acq r0 x", Some(Format::Mini)),
        ("init x=1: nld r0 d", Some(Format::Mini)),
        ("PPC MP", None),
        ("Chess", None),
        ("", None),
        ("/* open", None),
    ] {
        assert_eq!(Format::detect("stdin", text), format, "{text}");
        assert_eq!(Format::detect("a.txt", text), format, "{text}");
    }
}
