#[test]
fn two_and_three_make_five() {
    assert_eq!(till::add(2, 3), 5);
}
